import type { ListedKey } from '@pm/domain/accounts/key-directory';
import { checkerOf } from '@pm/domain/requests/requests.io';
import { type HttpHandler, parseBooleanParam, type RawParam, refuse } from '@pm/kit/http';
import { KeySettings } from '@pm/schemas/http/keys';
import { parseApiKeyId } from '@pm/schemas/ids';
import type { RefusalCode } from '@pm/schemas/refusals';
import { refuseBanned } from '../http/authentication.io.ts';
import type { AccountServices } from './account-services.io.ts';
import {
  createBuilderKeyRoute,
  deleteBuilderKeyRoute,
  listBuilderKeysRoute,
} from './builder-keys.route.ts';
import { refuseLimit } from './entry-quota.io.ts';
import {
  type KeyOwner,
  proveOwner,
  proveWallet,
  refuseReserved,
  sendOk,
  type WalletServices,
} from './key-owner.io.ts';
import { closedOnlyRoute, readSettingsRoute, writeSettingsRoute } from './key-settings.route.ts';
import {
  createReadKeyRoute,
  deleteReadKeyRoute,
  listReadKeysRoute,
  namedKey,
  validateReadKeyRoute,
} from './read-only-keys.route.ts';

/** Keys of every kind, and what a wallet may do. */
export function keyRoutes(services: AccountServices): readonly HttpHandler[] {
  return [
    createKeyRoute(services),
    deriveKeyRoute(services),
    listKeysRoute(services),
    deleteKeyRoute(services),
    readSettingsRoute(services),
    writeSettingsRoute(services, checkerOf(KeySettings)),
    createReadKeyRoute(services),
    listReadKeysRoute(services),
    deleteReadKeyRoute(services),
    validateReadKeyRoute(services),
    createBuilderKeyRoute(services),
    listBuilderKeysRoute(services),
    deleteBuilderKeyRoute(services),
    closedOnlyRoute(services),
  ];
}

type KeyServices = WalletServices & Pick<AccountServices, 'keys' | 'owners'>;

/**
 * POST /auth/api-key: the key of this wallet and nonce, made when there is none, returned when it is durable. The same
 * wallet and nonce get the same key until it is revoked; what was signed before that makes no new one. The signed nonce
 * counts; a body may repeat it,
 * as ccxt's does, and is ignored (conventions.md 2.1).
 */
function createKeyRoute(services: KeyServices): HttpHandler {
  return {
    method: 'POST',
    path: '/auth/api-key',
    add(app, { url }) {
      const config = { invalid: { text: 'Could not create api key' } };
      app.post(url, { config }, async (request, reply) => {
        const claim = await proveWallet(request, reply, { ...services, purpose: 'create' });
        if (claim === null) return reply;
        if (refuseReserved(claim.address, reply, services)) return reply;
        if (refuseBanned(claim.address, reply, services.authentication)) return reply;
        const { keys } = services;
        if (keys.isFromBeforeRevocation(claim)) return refuse(reply, 'request_repeated');
        const made = await keys.create(claim.address, claim.nonce);
        return 'max' in made ? refuseLimit(reply, 'too_many_api_keys', made) : made;
      });
    },
  };
}

/**
 * GET /auth/derive-api-key: the key of this wallet and nonce if it was made before, else 404 (conventions.md 1.1). Its
 * proof is used up by either: with a captured one another party would make the key, and so get its secret.
 */
function deriveKeyRoute(services: KeyServices): HttpHandler {
  return {
    method: 'GET',
    path: '/auth/derive-api-key',
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const claim = await proveWallet(request, reply, { ...services, purpose: 'create' });
        if (claim === null || refuseReserved(claim.address, reply, services)) return reply;
        const trio = services.keys.derive(claim.address, claim.nonce);
        return trio ?? (await reply.code(404).send({ error: 'Could not derive api key!' }));
      });
    },
  };
}

interface Query {
  readonly metadata?: RawParam;
  readonly includeRevoked?: RawParam;
}

/**
 * GET /auth/api-keys: the keys of the wallet, revoked ones too unless the query says otherwise: `{"apiKeys": […]}`, and
 * with `metadata` an array of objects. By an API key or, as ccxt asks, by the wallet's own signature (conventions.md
 * 2.6).
 */
function listKeysRoute(services: WalletServices & Pick<AccountServices, 'keys'>): HttpHandler {
  return {
    method: 'GET',
    path: '/auth/api-keys',
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const owner = await proveOwner(request, reply, { ...services, purpose: 'list' });
        if (owner === null) return reply;
        const query = request.query as Query;
        const withFacts = parseBooleanParam(query.metadata) ?? false;
        const withRevoked = parseBooleanParam(query.includeRevoked) ?? true;
        if (parseBooleanParam(query.metadata) === null) return refuseFlag(reply, 'metadata');
        if (parseBooleanParam(query.includeRevoked) === null) {
          return refuseFlag(reply, 'includeRevoked');
        }
        const keys = services.keys
          .list(owner.wallet, 'TRADING')
          .filter(({ active }) => active || withRevoked);
        return withFacts ? keys.map(factsOf) : { apiKeys: keys.map(({ apiKey }) => apiKey) };
      });
    },
  };
}

function refuseFlag(reply: Parameters<typeof refuse>[0], name: string) {
  return refuse(reply, 'invalid_request', { detail: `${name} is true or false` });
}

function factsOf({ apiKey, nonce, active, createdAtMs, revokedAtMs }: ListedKey) {
  return {
    apiKey,
    nonce,
    status: active ? 'active' : 'revoked',
    createdAt: new Date(createdAtMs).toISOString(),
    revokedAt: active ? null : new Date(revokedAtMs).toISOString(),
  };
}

type DeleteServices = WalletServices & Pick<AccountServices, 'keys'>;

/**
 * DELETE /auth/api-key: revokes the key that `apiKey` names, the calling one without it; by the wallet's own signature
 * always that of the signed nonce. Answers exactly `"OK"`, for a key that is revoked already too (conventions.md 2.6).
 */
function deleteKeyRoute(services: DeleteServices): HttpHandler {
  return {
    method: 'DELETE',
    path: '/auth/api-key',
    add(app, { url }) {
      app.delete(url, async (request, reply) => {
        const named = namedKey(request, 'apiKey');
        // A wallet's signature covers no name, and is refused with one: it must not revoke the key of its nonce.
        const proof = { purpose: 'revoke', isSpent: named !== undefined } as const;
        const owner = await proveOwner(request, reply, { ...services, ...proof });
        if (owner === null || refuseBanned(owner.wallet, reply, services.authentication))
          return reply;
        const code = await revoke(owner, named, services);
        return code === null ? sendOk(reply) : refuse(reply, code, { name: 'apiKey' });
      });
    },
  };
}

/** Why nothing was revoked; null when the key is. */
async function revoke(
  { wallet, by }: KeyOwner,
  named: string | undefined,
  { keys }: DeleteServices,
): Promise<RefusalCode | null> {
  if ('apiKey' in by) {
    const apiKey = named === undefined ? by.apiKey : parseApiKeyId(named);
    const isKnown = apiKey !== null && (await keys.revoke(wallet, 'TRADING', apiKey));
    return isKnown ? null : 'api_key_not_found';
  }
  // The signature of a wallet covers no body.
  if (named !== undefined) return 'argument_not_signed';
  if (keys.isFromBeforeKey({ address: wallet, ...by })) return 'request_repeated';
  return (await keys.revokeNonce(wallet, by.nonce)) ? null : 'api_key_not_found';
}
