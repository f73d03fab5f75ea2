import { type HttpHandler, refuse } from '@pm/kit/http';
import { parseApiKeyId, type WalletAddress } from '@pm/schemas/ids';
import { headers as names } from '@pm/schemas/signing';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  authenticate,
  authenticateReader,
  refuseBanned,
  signedFacts,
} from '../http/authentication.io.ts';
import type { AccountServices } from './account-services.io.ts';
import { refuseLimit } from './entry-quota.io.ts';
import { refuseReserved, sendOk } from './key-owner.io.ts';
import { namedKey } from './read-only-keys.route.ts';

type BuilderServices = Pick<
  AccountServices,
  'authentication' | 'keys' | 'owners' | 'verifyBuilder'
>;

const path = '/auth/builder-api-key';

/**
 * POST /auth/builder-api-key: another key that attributes orders; it grants no access (conventions.md 2.5).
 */
export function createBuilderKeyRoute(services: BuilderServices): HttpHandler {
  return {
    method: 'POST',
    path,
    add(app, { url }) {
      app.post(url, async (request, reply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null || refuseReserved(caller.address, reply, services)) return reply;
        const made = await services.keys.createBuilder(caller.address);
        if ('max' in made) return refuseLimit(reply, 'too_many_api_keys', made);
        const { apiKey: key, secret, passphrase } = made;
        return { key, secret, passphrase };
      });
    },
  };
}

/** GET /auth/builder-api-key: the wallet's builder keys, revoked ones too. */
export function listBuilderKeysRoute(services: BuilderServices): HttpHandler {
  return {
    method: 'GET',
    path,
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const reader = authenticateReader(request, reply, services.authentication);
        if (reader === null) return reply;
        const keys = services.keys.list(reader.wallet, 'BUILDER');
        return keys.map(({ apiKey, active, createdAtMs, revokedAtMs }) => ({
          key: apiKey,
          createdAt: new Date(createdAtMs).toISOString(),
          revokedAt: active ? null : new Date(revokedAtMs).toISOString(),
        }));
      });
    },
  };
}

/**
 * DELETE /auth/builder-api-key: revokes the key whose builder headers prove it. By an API key, the one that `key`
 * names, or all of the wallet without it, as published clients ask. Answers exactly `"OK"`.
 */
export function deleteBuilderKeyRoute(services: BuilderServices): HttpHandler {
  return {
    method: 'DELETE',
    path,
    add(app, { url }) {
      app.delete(url, async (request, reply) => {
        const named = proveNamed(request, reply, services);
        if (named === null) return reply;
        const { wallet, keys } = named;
        const known = await Promise.all(keys.map((key) => revokeNamed(wallet, key, services)));
        return known.every(Boolean) ? sendOk(reply) : refuse(reply, 'api_key_not_found');
      });
    },
  };
}

/** Whose keys are to be revoked, and which, as texts; null after the refusal was sent. */
function proveNamed(
  request: FastifyRequest,
  reply: FastifyReply,
  services: BuilderServices,
): { readonly wallet: WalletAddress; readonly keys: readonly string[] } | null {
  if (request.headers[names.builderApiKey.toLowerCase()] !== undefined) {
    const builder = services.verifyBuilder(signedFacts(request));
    if (builder === null) refuse(reply, 'invalid_l2');
    if (builder === null || refuseBanned(builder.wallet, reply, services.authentication))
      return null;
    return { wallet: builder.wallet, keys: [builder.apiKey] };
  }
  const caller = authenticate(request, reply, services.authentication);
  if (caller === null) return null;
  const wallet = caller.address;
  const key = namedKey(request);
  const all = () => services.keys.list(wallet, 'BUILDER').map(({ apiKey }) => apiKey);
  return { wallet, keys: key === undefined ? all() : [key] };
}

async function revokeNamed(
  wallet: WalletAddress,
  named: string,
  { keys }: BuilderServices,
): Promise<boolean> {
  const apiKey = parseApiKeyId(named);
  return apiKey !== null && (await keys.revoke(wallet, 'BUILDER', apiKey));
}
