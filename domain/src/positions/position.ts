import type { WalletAddress } from '@pm/schemas/ids';
import { lotMicro } from '@pm/schemas/money';
import { BrokenLog } from '../executions/broken-log.ts';

/** Sums of a position; micro-shares and micro-USDC, average-cost method, fees excluded. */
export interface PositionSums {
  sizeMicro: number;
  costMicro: number;
  totalBoughtMicro: number;
  sharesBoughtMicro: number;
  realizedMicro: number;
}

/** Position of a wallet in one token. */
export interface Position extends PositionSums {
  readonly wallet: WalletAddress;
  readonly market: number;
  readonly outcome: number;
  volumeMicro: number;
  updatedMs: number;
  /** in_offset of the last record folded in; -1 before the first. */
  version: number;
}

/** A position before its first trade. */
export function emptyPosition(wallet: WalletAddress, market: number, outcome: number): Position {
  return {
    wallet,
    market,
    outcome,
    sizeMicro: 0,
    costMicro: 0,
    totalBoughtMicro: 0,
    sharesBoughtMicro: 0,
    realizedMicro: 0,
    volumeMicro: 0,
    updatedMs: 0,
    version: -1,
  };
}

/** Adds shares at a cost. */
export function buy(position: PositionSums, sizeMicro: number, paidMicro: number): void {
  position.sizeMicro += sizeMicro;
  position.costMicro += paidMicro;
  position.totalBoughtMicro += paidMicro;
  position.sharesBoughtMicro += sizeMicro;
}

/**
 * Removes shares for proceeds. Their share of the cost, rounded down, is removed with them, and the difference to the
 * proceeds is realized. Throws `BrokenLog` when the position is smaller.
 */
export function sell(position: PositionSums, sizeMicro: number, proceedsMicro: number): void {
  if (sizeMicro > position.sizeMicro) throw new BrokenLog('a wallet sells more than it holds');
  const removedMicro = shareOfCost(position, sizeMicro);
  position.sizeMicro -= sizeMicro;
  position.costMicro -= removedMicro;
  position.realizedMicro += proceedsMicro - removedMicro;
}

/**
 * cost x sold / size, rounded down and exact: in whole lots two products of doubles suffice for almost every position.
 */
function shareOfCost({ costMicro, sizeMicro }: PositionSums, soldMicro: number): number {
  if (soldMicro === sizeMicro) return costMicro;
  const [sizeLots, soldLots] = [sizeMicro / lotMicro, soldMicro / lotMicro];
  const perLot = Math.floor(costMicro / sizeLots);
  const rest = (costMicro - perLot * sizeLots) * soldLots;
  const isExact =
    rest <= Number.MAX_SAFE_INTEGER && Number.isInteger(sizeLots) && Number.isInteger(soldLots);
  if (isExact) return perLot * soldLots + Math.floor(rest / sizeLots);
  return Number((BigInt(costMicro) * BigInt(soldMicro)) / BigInt(sizeMicro));
}
