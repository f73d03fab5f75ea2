import type { ListedKey } from '@pm/domain/accounts/key-directory';
import { type DoorRoute, parseBooleanParam, type RawParam, refuse } from '@pm/kit/http';
import { type ApiKeyId, KeySettings, parseApiKeyId } from '@pm/schemas';
import { type AuthPorts, refuseBanned } from '../door/authentication.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import { checkerOf, singleBodyMaxBytes } from '../door/request-checks.io.ts';
import {
  createBuilderKeyRoute,
  deleteBuilderKeyRoute,
  listBuilderKeysRoute,
} from './builder-keys.route.ts';
import {
  type KeyOwner,
  proveOwner,
  proveWallet,
  refuseReserved,
  sendOk,
  type WalletPorts,
} from './key-owner.io.ts';
import { closedOnlyRoute, readSettingsRoute, writeSettingsRoute } from './key-settings.route.ts';
import {
  createReadKeyRoute,
  deleteReadKeyRoute,
  listReadKeysRoute,
  validateReadKeyRoute,
} from './read-only-keys.route.ts';

/** Keys of every kind, and what a wallet may do. */
export function keyRoutes(ports: DoorPorts): readonly DoorRoute[] {
  return [
    createKeyRoute(ports),
    deriveKeyRoute(ports),
    listKeysRoute(ports),
    deleteKeyRoute(ports),
    readSettingsRoute(ports),
    writeSettingsRoute(ports, checkerOf(KeySettings)),
    createReadKeyRoute(ports),
    listReadKeysRoute(ports),
    deleteReadKeyRoute(ports),
    validateReadKeyRoute(ports),
    createBuilderKeyRoute(ports),
    listBuilderKeysRoute(ports),
    deleteBuilderKeyRoute(ports),
    closedOnlyRoute(ports),
  ];
}

type KeyPorts = WalletPorts & Pick<DoorPorts, 'keys' | 'owners' | 'walletStatus'>;

/**
 * POST /auth/api-key: the key of this wallet and nonce, made when there is none, answered when it is durable. The same
 * wallet and nonce always get the same key, a revoked one works again. The signed nonce counts; a body may repeat it, as
 * ccxt's does, and is ignored (conventions.md 2.1).
 */
export function createKeyRoute(ports: KeyPorts): DoorRoute {
  return {
    method: 'POST',
    path: '/auth/api-key',
    add(app, { url }) {
      const config = { invalid: { text: 'Could not create api key' } };
      app.post(url, { bodyLimit: singleBodyMaxBytes, config }, async (request, reply) => {
        const claim = proveWallet(request, reply, ports);
        if (claim === null) return reply;
        if (refuseReserved(claim.address, reply, ports)) return reply;
        if (refuseBanned(claim.address, reply, ports)) return reply;
        const made = await ports.keys.create(claim.address, claim.nonce);
        return 'max' in made ? refuse(reply, 'too_many_api_keys', { max: made.max }) : made;
      });
    },
  };
}

/** GET /auth/derive-api-key: the key of this wallet and nonce if it was made before, else 404 (conventions.md, Dialects). */
export function deriveKeyRoute(ports: KeyPorts): DoorRoute {
  return {
    method: 'GET',
    path: '/auth/derive-api-key',
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const claim = proveWallet(request, reply, ports);
        if (claim === null || refuseReserved(claim.address, reply, ports)) return reply;
        const trio = ports.keys.derive(claim.address, claim.nonce);
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
 * GET /auth/api-keys: the keys of the wallet, revoked ones too unless told otherwise: `{"apiKeys": […]}`, and with `metadata`
 * an array of objects. By an API key or, as ccxt asks, by the wallet's own signature (conventions.md 1.2).
 */
export function listKeysRoute(ports: AuthPorts & WalletPorts & Pick<DoorPorts, 'keys'>): DoorRoute {
  return {
    method: 'GET',
    path: '/auth/api-keys',
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const owner = proveOwner(request, reply, ports);
        if (owner === null) return reply;
        const query = request.query as Query;
        const withFacts = parseBooleanParam(query.metadata) ?? false;
        const withRevoked = parseBooleanParam(query.includeRevoked) ?? true;
        if (parseBooleanParam(query.metadata) === null) return refuseFlag(reply, 'metadata');
        if (parseBooleanParam(query.includeRevoked) === null) {
          return refuseFlag(reply, 'includeRevoked');
        }
        const keys = ports.keys
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

type DeletePorts = AuthPorts & WalletPorts & Pick<DoorPorts, 'keys'>;

/**
 * DELETE /auth/api-key: revokes the key that `apiKey` names, the calling one without it; by the wallet's own signature that of
 * the signed nonce. Answers exactly `"OK"`, for a key that is revoked already too (conventions.md 1.2).
 */
export function deleteKeyRoute(ports: DeletePorts): DoorRoute {
  return {
    method: 'DELETE',
    path: '/auth/api-key',
    add(app, { url }) {
      app.delete(url, { bodyLimit: singleBodyMaxBytes }, async (request, reply) => {
        const owner = proveOwner(request, reply, ports);
        if (owner === null || refuseBanned(owner.wallet, reply, ports)) return reply;
        const { apiKey: named } = request.query as { readonly apiKey?: RawParam };
        const apiKey = named === undefined ? undefined : parseApiKeyId(String(named));
        if (apiKey === null) return refuse(reply, 'api_key_not_found');
        const isDone = await revoke(owner, apiKey, ports);
        return isDone ? sendOk(reply) : refuse(reply, 'api_key_not_found');
      });
    },
  };
}

function revoke(
  { wallet, by }: KeyOwner,
  named: ApiKeyId | undefined,
  { keys }: DeletePorts,
): Promise<boolean> {
  if (named !== undefined) return keys.revoke(wallet, 'TRADING', named);
  if ('apiKey' in by) return keys.revoke(wallet, 'TRADING', by.apiKey);
  return keys.revokeNonce(wallet, by.nonce);
}
