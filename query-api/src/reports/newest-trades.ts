import type { FillRow } from '@pm/domain/orders/trades';
import type { TradeRow } from '@pm/domain/reports/rows';
import type { TapeSearch } from '@pm/domain/reports/tape-query';
import { notionalMicro } from '@pm/schemas/money';
import type { CutoverOffsets, RecentLog, RecentRows } from '../recent/recent-log.ts';

/** A side of a fill, and which. */
export interface SideRow extends TradeRow {
  readonly isTaker: boolean;
}

/**
 * Trades of the newest records that are requested, so many that no page needs more; in any order. From this cutover on,
 * or all there are.
 */
export function newestTrades(
  recent: Pick<RecentLog, 'newestFills'>,
  search: TapeSearch,
  from?: CutoverOffsets,
): RecentRows<SideRow> {
  const most = search.offset + search.limit;
  return recent.newestFills({ most, ...(from && { from }) }, (fill) =>
    sidesOf(fill).filter((side) => isSideRequested(side, search)),
  );
}

/** Whether a side is requested: the rule that the SQL of stored trades follows too. */
export function isSideRequested(side: SideRow, search: TapeSearch): boolean {
  const { user, markets, takerOnly, least, startS, endS } = search;
  if (takerOnly && !side.isTaker) return false;
  if (user !== null && side.wallet !== user) return false;
  if (markets !== null && !markets.includes(side.market)) return false;
  if (search.side !== null && side.side !== search.side) return false;
  if (startS !== null && side.timeMs < startS * 1000) return false;
  if (endS !== null && side.timeMs >= (endS + 1) * 1000) return false;
  if (least === null) return true;
  const { price, sizeMicro } = side;
  return (least.of === 'TOKENS' ? sizeMicro : notionalMicro(price, sizeMicro)) >= least.micro;
}

/** Both sides of a fill, as the tape has them. */
export function sidesOf(fill: FillRow): readonly SideRow[] {
  const { partition, inOffset, eventIndex, timeMs, market, sizeMicro } = fill;
  const shared = { partition, inOffset, eventIndex, timeMs, market, sizeMicro };
  return [
    {
      ...shared,
      isTaker: false,
      wallet: fill.maker,
      outcome: fill.makerOutcome,
      side: fill.makerSide,
      price: fill.makerPrice,
    },
    {
      ...shared,
      isTaker: true,
      wallet: fill.taker,
      outcome: fill.takerOutcome,
      side: fill.takerSide,
      price: fill.takerPrice,
    },
  ];
}
