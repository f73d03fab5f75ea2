import type { ListedKey } from '@pm/domain/accounts/key-directory';
import { type DoorRoute, parseBooleanParam, type RawParam, refuse } from '@pm/kit/http';
import type { AuthPorts } from '../door/authentication.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import { proveOwner } from './key-owner.io.ts';
import type { WalletPorts } from './prove-wallet.io.ts';

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
