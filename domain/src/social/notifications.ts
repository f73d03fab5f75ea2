import { microText, priceText } from '@pm/schemas/decimal';
import {
  type Notification,
  type NotificationType,
  notificationsMax,
} from '@pm/schemas/http/notifications';
import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { NotificationMark } from '@pm/schemas/log/notifications';
import { notificationId } from '@pm/schemas/notification-id';
import { tradeHash, tradeId } from '@pm/schemas/trade-id';
import type { Catalog } from '../markets/catalog.ts';
import type { Market, Outcome } from '../markets/market.ts';
import type { CancelRow } from '../orders/cancel-search.ts';
import { foldOrder, type OrderEventRow } from '../orders/order-read.ts';
import type { FillRow, TradeViewer } from '../orders/trades.ts';

/** Something that happened to a caller, before its order was looked up. */
export interface Happening {
  readonly id: number;
  readonly type: NotificationType;
  readonly timeMs: number;
  readonly market: number;
  readonly outcome: Outcome | null;
  /** Empty where no order is meant. */
  readonly orderId: string;
  readonly tradeId: string;
  readonly owner: string;
  readonly reason: string | null;
}

const noHash = `0x${'0'.repeat(64)}`;

/** Fills of the caller's orders; of a trade between two of them both. */
export function fillHappenings(row: FillRow, viewer: TradeViewer): readonly Happening[] {
  const sides = [
    {
      role: 'TAKER',
      wallet: row.taker,
      owner: row.takerKey,
      orderId: row.takerOrder,
      outcome: row.takerOutcome,
    },
    {
      role: 'MAKER',
      wallet: row.maker,
      owner: row.makerKey,
      orderId: row.makerOrder,
      outcome: row.makerOutcome,
    },
  ];
  const own = sides.filter(
    ({ wallet, owner }) => viewer.wallets.has(wallet) && viewer.keys.has(owner),
  );
  const trade = tradeId(row);
  return own.map(({ role, owner, orderId, outcome }) => ({
    id: notificationId(`fill ${trade} ${role}`),
    type: 2,
    timeMs: row.timeMs,
    market: row.market,
    outcome,
    orderId,
    tradeId: trade,
    owner,
    reason: null,
  }));
}

export function cancelHappening(row: CancelRow): Happening {
  return {
    id: notificationId(`cancel ${tradeId(row)}`),
    type: 1,
    timeMs: row.timeMs,
    market: row.market,
    outcome: null,
    orderId: row.orderId,
    tradeId: '',
    owner: row.apiKey,
    reason: row.reason.toLowerCase(),
  };
}

/** The market was resolved when its entry in the catalog last changed. */
export function resolutionHappening({ market, updatedAtMs }: Market, owner: string): Happening {
  return {
    id: notificationId(`resolved ${market}`),
    type: 4,
    timeMs: updatedAtMs,
    market,
    outcome: null,
    orderId: '',
    tradeId: '',
    owner,
    reason: null,
  };
}

/** The notifications to show: newest first, without deleted ones, within the limit. */
export function shownHappenings(
  happenings: readonly Happening[],
  deleted: ReadonlySet<number>,
): readonly Happening[] {
  return happenings
    .filter(({ id }) => !deleted.has(id))
    .sort((left, right) => right.timeMs - left.timeMs || left.id - right.id)
    .slice(0, notificationsMax);
}

/** A happening with its market and order; null when the market is not listed any more. */
export function notificationOf(
  catalog: Catalog,
  happening: Happening,
  rows: readonly OrderEventRow[],
): Notification | null {
  const market = catalog.market(happening.market);
  if (market === undefined) return null;
  const { id, type, timeMs, owner } = happening;
  const event = catalog.event(market.eventId);
  const series = event?.seriesIds[0];
  const payload = {
    ...marketLabels(market),
    ...orderWords(market, happening, rows),
    eventSlug: event?.slug ?? '',
    seriesSlug: series === undefined ? '' : (catalog.series(series)?.slug ?? ''),
    owner,
    order_id: happening.orderId,
    trade_id: happening.tradeId,
    transaction_hash: happening.tradeId === '' ? noHash : tradeHash(happening.tradeId),
    reason: happening.reason,
  };
  return { id, timestamp: timeMs, type, owner, payload };
}

function marketLabels({ conditionId, icon, image, slug, question }: Market) {
  return {
    condition_id: conditionId,
    market: conditionId,
    icon,
    image,
    market_slug: slug,
    question,
  };
}

/** Order fields of a notification: of an order its current state; of a resolution the winning token and its payout. */
function orderWords(market: Market, { outcome }: Happening, rows: readonly OrderEventRow[]) {
  const history = foldOrder(rows);
  if (history.kind !== 'accepted') {
    const winner = market.payout0 >= 5_000 ? 0 : 1;
    const price = priceText(winner === 0 ? market.payout0 : 10_000 - market.payout0);
    const sizes = { original_size: '0', matched_size: '0', remaining_size: '0' };
    return { ...tokenWords(market, outcome ?? winner), ...sizes, price, side: 'BUY', type: 'GTC' };
  }
  const { order, facts } = history;
  return {
    ...tokenWords(market, order.outcome),
    original_size: microText(order.sizeMicro),
    matched_size: microText(facts.filledMicro),
    remaining_size: microText(Math.max(0, order.sizeMicro - facts.filledMicro)),
    price: priceText(order.price),
    side: order.side,
    type: order.timeInForce,
  };
}

function tokenWords(market: Market, outcome: Outcome) {
  const asset_id = market.tokens[outcome];
  return { asset_id, outcome: market.outcomes[outcome], outcome_index: outcome };
}

/** Notifications that wallets have deleted, by the topic `notification-marks`. */
export class DeletedNotifications {
  readonly #ids = new Map<WalletAddress, ReadonlySet<number>>();

  apply({ wallet, deleted }: NotificationMark): void {
    this.#ids.set(walletFromBytes(wallet), new Set(deleted));
  }

  of(wallet: WalletAddress): ReadonlySet<number> {
    return this.#ids.get(wallet) ?? none;
  }
}

const none: ReadonlySet<number> = new Set();
