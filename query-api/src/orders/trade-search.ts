import type { FillRow, TradesQuery } from '@pm/domain/orders/trades';
import { followsPlace, type PlacedRow } from '@pm/domain/reading/merge-page';

/** Requested trades, with ids resolved and the caller known. */
export interface TradeSearch {
  /** The wallets whose trades these are. */
  readonly wallets: ReadonlySet<string>;
  /** The caller's API keys: only what they traded is the caller's. */
  readonly keys: ReadonlySet<string>;
  readonly query: TradesQuery;
  /** Null: any market. */
  readonly market: number | null;
  /** Null: any outcome; otherwise that of the caller's side. */
  readonly outcome: number | null;
  /** Only what follows this one in the list; null: from the newest on. */
  readonly after: PlacedRow | null;
  readonly limit: number;
}

/** Whether a fill is requested: the rule that the SQL of stored fills follows too. */
export function isTradeRequested(row: FillRow, search: TradeSearch): boolean {
  const { place, taker, maker, beforeS, afterS } = search.query;
  if (!followsPlace(row, search.after)) return false;
  if (place !== null && !isAt(row, place)) return false;
  if (taker !== null && row.taker !== taker) return false;
  if (maker !== null && row.maker !== maker) return false;
  if (beforeS !== null && row.timeMs >= beforeS * 1000) return false;
  if (afterS !== null && row.timeMs < (afterS + 1) * 1000) return false;
  if (search.market !== null && row.market !== search.market) return false;
  const sides = [
    { wallet: row.taker, key: row.takerKey, outcome: row.takerOutcome },
    { wallet: row.maker, key: row.makerKey, outcome: row.makerOutcome },
  ];
  return sides.some(
    (side) =>
      search.wallets.has(side.wallet) &&
      search.keys.has(side.key) &&
      (search.outcome === null || search.outcome === side.outcome),
  );
}

function isAt(row: FillRow, place: NonNullable<TradesQuery['place']>): boolean {
  return (
    row.partition === place.partition &&
    row.inOffset === String(place.inOffset) &&
    row.eventIndex === place.eventIndex
  );
}
