import { type DoorRoute, refuse } from '@pm/kit/http';
import { refuseBanned } from '../door/authentication.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import { singleBodyMaxBytes } from '../door/request-checks.io.ts';
import { proveWallet, type WalletPorts } from './prove-wallet.io.ts';
import { refuseReserved } from './refuse-reserved.io.ts';

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
