import type { DoorRoute } from '@pm/kit/http';
import type { DoorPorts } from '../door/ports.io.ts';
import { proveWallet, type WalletPorts } from './prove-wallet.io.ts';
import { refuseReserved } from './refuse-reserved.io.ts';

type KeyPorts = WalletPorts & Pick<DoorPorts, 'keys' | 'owners'>;

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
