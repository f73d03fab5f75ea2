import { isFresh } from '@pm/domain/accounts/auth-headers';
import { readWalletClaim, type WalletClaim } from '@pm/domain/accounts/wallet-claim';
import { refusalText } from '@pm/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DoorPorts } from '../door/ports.io.ts';

export type WalletPorts = Pick<DoorPorts, 'clock' | 'signatures' | 'freshnessMs'>;

/** Proves the wallet behind a request for a key; null after the refusal was sent (conventions.md 2.1, 2.3). */
export function proveWallet(
  request: FastifyRequest,
  reply: FastifyReply,
  { clock, signatures, freshnessMs }: WalletPorts,
): WalletClaim | null {
  const claim = readWalletClaim(request.headers);
  const nowMs = clock.nowMs();
  const isOnTime = claim !== null && isFresh(claim.timestampMs, nowMs, freshnessMs);
  if (isOnTime && signatures.isAttested(claim)) return claim;
  // Clients of the family look for this text; a clock that is off is told in fields beside it.
  const skew = claim === null || isOnTime ? {} : { code: 'timestamp_skew', server_time: nowMs };
  void reply.header('date', new Date(nowMs).toUTCString());
  void reply.code(401).header('www-authenticate', 'EIP712');
  void reply.send({ error: refusalText('invalid_l1'), ...skew });
  return null;
}
