import { type HttpHandler, type RawParam, refuse } from '@pm/kit/http';
import { parseApiKeyId } from '@pm/schemas/ids';
import type { FastifyRequest } from 'fastify';
import { authenticate, refuseUnproven, signedFacts } from '../http/authentication.io.ts';
import type { AccountServices } from './account-services.io.ts';
import { refuseLimit } from './entry-quota.io.ts';
import { refuseReserved } from './key-owner.io.ts';

type ReadKeyServices = Pick<AccountServices, 'authentication' | 'owners' | 'readOnlyKeys'>;

/** POST /auth/readonly-api-key: one more key that opens the wallet's private reads alone (conventions.md 2.5). */
export function createReadKeyRoute(services: ReadKeyServices): HttpHandler {
  return {
    method: 'POST',
    path: '/auth/readonly-api-key',
    add(app, { url }) {
      app.post(url, async (request, reply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null || refuseReserved(caller.address, reply, services)) return reply;
        const made = await services.readOnlyKeys.create(caller.address);
        if (typeof made === 'string') return { apiKey: made };
        return refuseLimit(reply, 'too_many_api_keys', made);
      });
    },
  };
}

/** GET /auth/readonly-api-keys: the keys themselves, so no read-only key opens it: who has one would have them all. */
export function listReadKeysRoute(services: ReadKeyServices): HttpHandler {
  return {
    method: 'GET',
    path: '/auth/readonly-api-keys',
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const facts = signedFacts(request);
        const holder = services.authentication.verify(facts);
        if (holder !== null) return services.readOnlyKeys.list(holder.wallet);
        if (services.authentication.verifyReader(facts) === null)
          refuseUnproven(request, reply, services.authentication);
        else refuse(reply, 'read_only_key');
        return reply;
      });
    },
  };
}

/**
 * DELETE /auth/readonly-api-key: the key named in the body, or in the query where bodies get lost. Clients of the mount
 * `/clob` take the whole response for a boolean (conventions.md 2.6).
 */
export function deleteReadKeyRoute(services: ReadKeyServices): HttpHandler {
  return {
    method: 'DELETE',
    path: '/auth/readonly-api-key',
    add(app, { url, mount }) {
      app.delete(url, async (request, reply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null) return reply;
        const key = parseApiKeyId(namedKey(request) ?? '');
        const isDone = key !== null && (await services.readOnlyKeys.delete(caller.address, key));
        if (!isDone) return refuse(reply, 'api_key_not_found');
        return mount === 'clob' ? true : { deleted: true };
      });
    },
  };
}

/** GET /auth/validate-readonly-api-key: whether `key` opens the private reads of `address`; without authentication. */
export function validateReadKeyRoute({
  readOnlyKeys,
}: Pick<AccountServices, 'readOnlyKeys'>): HttpHandler {
  return {
    method: 'GET',
    path: '/auth/validate-readonly-api-key',
    add(app, { url }) {
      app.get(url, async (request) => {
        const query = request.query as { readonly address?: RawParam; readonly key?: RawParam };
        return { valid: readOnlyKeys.isValid(textOf(query.address), textOf(query.key)) };
      });
    },
  };
}

/**
 * The key that the body names, else the query; undefined when neither has one, or the query an empty one. What is no
 * text is the name of no key, so that it does not stand for another one or for all.
 */
export function namedKey(
  { body, query }: Pick<FastifyRequest, 'body' | 'query'>,
  name: 'key' | 'apiKey' = 'key',
): string | undefined {
  const inQuery = keyIn(query, name);
  return keyIn(body, name) ?? (inQuery === '' ? undefined : inQuery);
}

const nameOfNone = 'no text';

function keyIn(from: unknown, name: 'key' | 'apiKey'): string | undefined {
  if (typeof from !== 'object' || from === null || !(name in from)) return undefined;
  const named = (from as Readonly<Record<string, unknown>>)[name];
  return typeof named === 'string' ? named : nameOfNone;
}

function textOf(param: RawParam): string {
  return typeof param === 'string' ? param : '';
}
