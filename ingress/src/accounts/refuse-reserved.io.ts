import { refuse } from '@pm/kit/http';
import type { WalletAddress } from '@pm/schemas';
import type { FastifyReply } from 'fastify';
import type { DoorPorts } from '../door/ports.io.ts';

/** Whether the address is reserved and gets no key of any kind, which the reply then says (conventions.md 3.3). */
export function refuseReserved(
  address: WalletAddress,
  reply: FastifyReply,
  { owners }: Pick<DoorPorts, 'owners'>,
): boolean {
  if (!owners.isReserved(address)) return false;
  refuse(reply, 'wallet_reserved');
  return true;
}
