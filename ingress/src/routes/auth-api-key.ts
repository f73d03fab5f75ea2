import type { DoorRoute } from '@pm/kit/http';
import type { DoorPorts } from './ports.ts';
import { proveWallet } from './prove-wallet.ts';
import { singleBodyMaxBytes } from './route.ts';

type KeyPorts = Pick<DoorPorts, 'clock' | 'signatures' | 'freshnessMs' | 'keys'>;

/**
 * POST /auth/api-key: the key of this wallet and nonce, made when there is none, answered when it is durable. The same
 * wallet and nonce always get the same key. Bodies are ignored (ccxt sends one). (docs/conventions.md 2.1.)
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
        return await ports.keys.create(claim.address, claim.nonce);
      });
    },
  };
}
