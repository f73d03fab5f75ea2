import { isFresh, readWalletClaim, type WalletClaim } from '@pm/kit/walletauth';
import { refusalText } from '@pm/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DoorPorts } from './ports.ts';

type WalletPorts = Pick<DoorPorts, 'clock' | 'signatures' | 'freshnessMs'>;

/** Proves the wallet behind a request for a key; null after the refusal was sent (docs/conventions.md 2.1, 2.3). */
export function proveWallet(
  request: FastifyRequest,
  reply: FastifyReply,
  ports: WalletPorts,
): WalletClaim | null {
  const claim = readWalletClaim(request.headers);
  if (claim !== null && isFresh(claim.timestampMs, ports.clock.nowMs(), ports.freshnessMs)) {
    if (ports.signatures.isAttested(claim)) return claim;
  }
  // Clients of the family look for this text alone.
  void reply.code(401).header('www-authenticate', 'EIP712');
  void reply.send({ error: refusalText('invalid_l1') });
  return null;
}
