import type { Catalog } from '@pm/domain/markets/catalog';
import { QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import type { ReadRefusal } from '@pm/domain/reading/refusal';
import type { MakerFeesRow } from '@pm/domain/reports/rows';
import { optionalWallet } from '@pm/domain/reports/tape-query';
import { checksumAddress, type WalletAddress } from '@pm/schemas/ids';
import { rewardAsset } from '../markets/clob-market.ts';

/** Below it nothing is paid out for a day, micro-USDC. */
const payoutLeastMicro = 1_000_000;
/** Basis points in one. */
const one = 10_000;
const dayMs = 86_400_000;

export interface RebatesQuery {
  /** Start of the day, UTC, Unix seconds. */
  readonly dayS: number;
  /** `2026-01-31`. */
  readonly date: string;
  readonly maker: WalletAddress;
}

/** The parameters of GET /rebates/current, or why not (conventions.md 6.5). */
export function readRebatesQuery(query: RawQuery, nowMs: number): RebatesQuery | ReadRefusal {
  const read = new QueryReader(query, 'clob');
  const maker = optionalWallet(read, 'maker_address');
  if (maker === null) read.missing('maker_address');
  const requested = read.time('date') ?? nowMs;
  const startMs = requested - (requested % dayMs);
  if (startMs < 0 || startMs > nowMs) read.invalid('date');
  if (read.refusal !== null) return read.refusal;
  const date = new Date(startMs).toISOString().slice(0, 10);
  return { dayS: startMs / 1000, date, maker: maker as WalletAddress };
}

/**
 * A wallet's part of each market's pool. The pool is a part of the day's taker fees; what a maker would have paid
 * itself is the fee of its fills as maker, so its part of the pool is that part of those fees.
 */
export function rebateAnswers(
  catalog: Catalog,
  rows: readonly MakerFeesRow[],
  query: RebatesQuery,
  nowMs: number,
) {
  const rebates = rows.flatMap(({ market: number, feesMicro }) => {
    const market = catalog.market(number);
    if (market === undefined) return [];
    return [{ market, micro: partOf(feesMicro, market.rebateBps) }];
  });
  const totalMicro = rebates.reduce((sum, { micro }) => sum + micro, 0);
  const isOver = nowMs >= query.dayS * 1000 + dayMs;
  const closed = totalMicro < payoutLeastMicro ? 'below_minimum' : 'closed';
  return rebates
    .filter(({ micro }) => micro > 0)
    .map(({ market, micro }) => ({
      date: query.date,
      condition_id: market.conditionId,
      asset_address: rewardAsset,
      maker_address: checksumAddress(query.maker),
      rebated_fees_usdc: fixedSix(micro),
      status: isOver ? closed : 'estimated',
    }));
}

/** Rounded down, and exact where the product of the two is beyond the safe integers. */
function partOf(micro: number, bps: number): number {
  return Number((BigInt(micro) * BigInt(bps)) / BigInt(one));
}

/** Always six decimals. */
function fixedSix(micro: number): string {
  const text = String(micro).padStart(7, '0');
  return `${text.slice(0, -6)}.${text.slice(-6)}`;
}
