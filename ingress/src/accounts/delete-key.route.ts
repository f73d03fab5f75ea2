import { type DoorRoute, type RawParam, refuse } from '@pm/kit/http';
import { type ApiKeyId, parseApiKeyId } from '@pm/schemas';
import { type AuthPorts, refuseBanned } from '../door/authentication.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import { singleBodyMaxBytes } from '../door/request-checks.io.ts';
import { sendOk } from './answers.io.ts';
import { type KeyOwner, proveOwner } from './key-owner.io.ts';
import type { WalletPorts } from './prove-wallet.io.ts';

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
