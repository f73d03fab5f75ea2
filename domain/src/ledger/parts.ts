import { Fault } from '@pm/kit/fault';
import type { OrderId, WalletAddress } from '@pm/schemas/ids';
import { ledgerCallItemsMax, type Move } from './ledger.ts';

/** The arguments of one call of the script. */
export interface Part {
  readonly answered: readonly OrderId[];
  readonly moves: readonly Move[];
}

/**
 * One move per wallet, in the order of first appearance: the same moves always give the same parts. Throws
 * `ledger_overflow` (stop) beyond 2^53.
 */
export function sumMoves(moves: readonly Move[]): readonly Move[] {
  const sums = new Map<WalletAddress, Move>();
  for (const { wallet, freeMicro, heldMicro } of moves) {
    const before = sums.get(wallet);
    sums.set(wallet, {
      wallet,
      freeMicro: exact((before?.freeMicro ?? 0) + freeMicro),
      heldMicro: exact((before?.heldMicro ?? 0) + heldMicro),
    });
  }
  return [...sums.values()];
}

/** Cuts into parts of at most `ledgerCallItemsMax` items; at least one part. Moves come first, then results. */
export function partsOf(answered: readonly OrderId[], moves: readonly Move[]): readonly Part[] {
  const parts: Part[] = [];
  const count = moves.length + answered.length;
  for (let from = 0; from === 0 || from < count; from += ledgerCallItemsMax) {
    const to = from + ledgerCallItemsMax;
    parts.push({
      moves: moves.slice(from, to),
      answered: answered.slice(Math.max(0, from - moves.length), Math.max(0, to - moves.length)),
    });
  }
  return parts;
}

function exact(value: number): number {
  if (!Number.isSafeInteger(value)) throw new Fault('ledger_overflow', 'stop');
  return value;
}
