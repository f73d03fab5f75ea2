import type { ActivitySearch } from '@pm/domain/reports/activity';
import type { ActivityRow } from '@pm/domain/reports/rows';
import { notionalMicro } from '@pm/schemas/money';
import type { PayoutOf } from '../positions/newest-positions.ts';
import type { HoldingChange } from '../recent/record-rows.ts';

/**
 * Activity of a wallet in the newest records, as far as it is requested. The SQL of the stored rows follows the same
 * rule.
 */
export function newestActivity(
  changes: readonly HoldingChange[],
  search: ActivitySearch,
  payoutOf: PayoutOf,
): readonly ActivityRow[] {
  const moves = new Map<string, readonly HoldingChange[]>();
  const rows: ActivityRow[] = [];
  for (const change of changes) {
    if (!isInside(change, search)) continue;
    if (change.cause === 'TAKER' || change.cause === 'MAKER') {
      rows.push(tradeOf(change));
      continue;
    }
    const place = `${change.partition}:${change.inOffset}:${change.eventIndex}`;
    moves.set(place, [...(moves.get(place) ?? []), change]);
  }
  for (const legs of moves.values()) rows.push(...moveOf(legs, payoutOf));
  const { types, side } = search;
  return rows.filter(
    (row) => (types?.includes(row.type) ?? true) && (side === null || row.side === side),
  );
}

function isInside(
  { market, timeMs }: HoldingChange,
  { markets, startS, endS }: ActivitySearch,
): boolean {
  if (markets !== null && !markets.includes(market)) return false;
  if (startS !== null && timeMs < startS * 1000) return false;
  return endS === null || timeMs < (endS + 1) * 1000;
}

function placeOf({ partition, inOffset, eventIndex, timeMs, market }: HoldingChange) {
  return { partition, inOffset: String(inOffset), eventIndex, timeMs, market };
}

function tradeOf(change: HoldingChange): ActivityRow {
  const { outcome, changeMicro } = change;
  const [price, sizeMicro] = [change.price ?? 0, Math.abs(changeMicro)];
  const usdcMicro = notionalMicro(price, sizeMicro);
  const side = changeMicro > 0 ? 'BUY' : 'SELL';
  return { ...placeOf(change), type: 'TRADE', outcome, side, price, sizeMicro, usdcMicro };
}

/** Pairs count once, redeemed tokens all. */
function moveOf(legs: readonly HoldingChange[], payoutOf: PayoutOf): readonly ActivityRow[] {
  const [first] = legs;
  if (first === undefined || first.cause === 'TAKER' || first.cause === 'MAKER') return [];
  const sizes = legs.map(({ changeMicro }) => Math.abs(changeMicro));
  const values = legs.map((leg, at) =>
    notionalMicro(leg.price ?? payoutOf(leg.market, leg.outcome) ?? 0, sizes[at] ?? 0),
  );
  const sumOf = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0);
  const sizeMicro = first.cause === 'REDEEM' ? sumOf(sizes) : Math.max(...sizes);
  const nothing = { outcome: null, side: null, price: 0 };
  return [
    { ...placeOf(first), ...nothing, type: first.cause, sizeMicro, usdcMicro: sumOf(values) },
  ];
}

/** The order of a page: by its column, then by time and by place in the log. */
export function inActivityOrder({
  sortBy,
  sortDirection,
}: Pick<ActivitySearch, 'sortBy' | 'sortDirection'>): (
  left: ActivityRow,
  right: ActivityRow,
) => number {
  const column = { TIMESTAMP: 'timeMs', TOKENS: 'sizeMicro', CASH: 'usdcMicro' } as const;
  const key = column[sortBy];
  const sign = sortDirection === 'ASC' ? 1 : -1;
  return (left, right) =>
    sign *
    (left[key] - right[key] ||
      left.timeMs - right.timeMs ||
      left.partition - right.partition ||
      Number(left.inOffset) - Number(right.inOffset) ||
      left.eventIndex - right.eventIndex);
}
