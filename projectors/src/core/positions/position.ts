import type { WalletAddress } from '@pm/schemas';
import { BrokenLog } from '../broken-log.ts';

/** What a wallet holds of one token; micro-shares and micro-USDC, average-cost method, fees excluded. */
export interface Position {
  readonly wallet: WalletAddress;
  readonly market: number;
  readonly outcome: number;
  readonly sizeMicro: number;
  readonly costMicro: number;
  readonly totalBoughtMicro: number;
  readonly sharesBoughtMicro: number;
  readonly realizedMicro: number;
  readonly volumeMicro: number;
  readonly updatedMs: number;
  /** in_offset of the last record folded in; -1 before the first. */
  readonly version: number;
}

export function emptyPosition(wallet: WalletAddress, market: number, outcome: number): Position {
  const zero = {
    sizeMicro: 0,
    costMicro: 0,
    totalBoughtMicro: 0,
    sharesBoughtMicro: 0,
    realizedMicro: 0,
    volumeMicro: 0,
  };
  return { wallet, market, outcome, ...zero, updatedMs: 0, version: -1 };
}

/** Shares that come in for a price. */
export function bought(position: Position, sizeMicro: number, paidMicro: number): Position {
  return {
    ...position,
    sizeMicro: position.sizeMicro + sizeMicro,
    costMicro: position.costMicro + paidMicro,
    totalBoughtMicro: position.totalBoughtMicro + paidMicro,
    sharesBoughtMicro: position.sharesBoughtMicro + sizeMicro,
  };
}

/** Shares that go for proceeds: their share of the cost, rounded down, goes with them, and the rest is realized. */
export function sold(position: Position, sizeMicro: number, proceedsMicro: number): Position {
  if (sizeMicro > position.sizeMicro) throw new BrokenLog('a wallet sells more than it holds');
  const removedMicro = shareOfCost(position, sizeMicro);
  return {
    ...position,
    sizeMicro: position.sizeMicro - sizeMicro,
    costMicro: position.costMicro - removedMicro,
    realizedMicro: position.realizedMicro + proceedsMicro - removedMicro,
  };
}

function shareOfCost({ costMicro, sizeMicro }: Position, soldMicro: number): number {
  if (soldMicro === sizeMicro) return costMicro;
  const product = costMicro * soldMicro;
  if (product <= Number.MAX_SAFE_INTEGER) return Math.floor(product / sizeMicro);
  return Number((BigInt(costMicro) * BigInt(soldMicro)) / BigInt(sizeMicro));
}
