import { microText, priceText } from '@pm/schemas/decimal';
import type { StoredOrder } from '@pm/schemas/http/reading';
import { checksumAddress, parseWalletAddress } from '@pm/schemas/ids';
import { gtdEarlySeconds } from '@pm/schemas/log/log-rules';
import { isFinalCode } from '@pm/schemas/refusal-codes';
import { tradeId } from '@pm/schemas/trade-id';
import type { Catalog } from '../markets/catalog.ts';
import type { Outcome } from '../markets/market.ts';
import { isoTime } from '../markets/wire-market.ts';

/** Fields that every row of `order_events` has; money and times as integers. */
interface EventOfOrder {
  readonly partition: number;
  readonly inOffset: string;
  readonly eventIndex: number;
  readonly timeMs: number;
  readonly orderId: string;
  readonly wallet: string;
  readonly apiKey: string;
  readonly market: number;
}

interface Priced {
  readonly outcome: Outcome;
  readonly side: 'BUY' | 'SELL';
  readonly price: number;
  readonly sizeMicro: number;
  /** Left on the book after a placement, or of a maker after a fill. */
  readonly restingMicro: number;
}

/** The terms of an order, and where it stands after its own fills. */
interface Stated<Kind extends 'PLACED' | 'DELAYED'> extends EventOfOrder, Priced {
  readonly kind: Kind;
  readonly timeInForce: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  /** 0 for never. */
  readonly expiresAtMs: number;
  readonly acceptedAtMs: number;
  readonly status: string;
}

export type StatedRow = Stated<'PLACED'> | Stated<'DELAYED'>;

export interface FilledRow extends EventOfOrder, Priced {
  readonly kind: 'FILLED';
  readonly role: 'TAKER' | 'MAKER';
}

export interface RefusedRow extends EventOfOrder {
  readonly kind: 'REFUSED';
  /** Refusal code. */
  readonly reason: string;
}

export interface CanceledRow extends EventOfOrder {
  readonly kind: 'CANCELED';
  readonly reason: string;
  /** Left when it was canceled. */
  readonly sizeMicro: number;
}

/** One row of `order_events`: of each kind what it says, and nothing in place of what it does not. */
export type OrderEventRow = StatedRow | FilledRow | RefusedRow | CanceledRow;

/** State of an order as its events have it (order-lifecycle.md). */
export type OrderHistory =
  | { readonly kind: 'accepted'; readonly order: StatedRow; readonly facts: OrderFacts }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'unknown' };

export interface OrderFacts {
  readonly status: 'LIVE' | 'MATCHED' | 'DELAYED' | 'CANCELED';
  /** The one word for how it ended; null while it has not. */
  readonly reason: string | null;
  /** The refusal that ended it: it was delayed or held, and never placed. */
  readonly code: string | null;
  /** Clock of the partition when it ended, Unix milliseconds; null while it has not. */
  readonly endedAtMs: number | null;
  readonly filledMicro: number;
  readonly tradeIds: readonly string[];
}

export type AcceptedOrder = Extract<OrderHistory, { kind: 'accepted' }>;

/** Trades listed with an order; an order meets more resting ones only over a long life. */
const tradesOfOrderMax = 1_000;

/**
 * Folds the events of one order, in any order of rows. A refusal counts only while the order was never placed; the
 * first one after a delay ends an order that had been accepted. Of several others the one for good counts: those of
 * further copies, as of one that is too old by then, say nothing of the order itself.
 */
export function foldOrder(rows: readonly OrderEventRow[]): OrderHistory {
  const placed = rows.find(isOfKind('PLACED'));
  if (placed !== undefined)
    return { kind: 'accepted', order: placed, facts: placedFacts(placed, rows) };
  const delayed = rows.find(isOfKind('DELAYED'));
  const refusedRows = rows.filter(isOfKind('REFUSED')).sort(byPlace);
  if (delayed !== undefined) {
    const end = refusedRows.find((row) => byPlace(delayed, row) < 0) ?? null;
    return { kind: 'accepted', order: delayed, facts: delayedFacts(end) };
  }
  const refused = refusedRows.find(({ reason }) => isFinalCode(reason)) ?? refusedRows.at(-1);
  return refused === undefined ? { kind: 'unknown' } : { kind: 'refused', code: refused.reason };
}

function placedFacts(placed: StatedRow, rows: readonly OrderEventRow[]): OrderFacts {
  const fills = rows.filter(isOfKind('FILLED')).sort(byPlace);
  const filledMicro = fills.reduce((sum, row) => sum + row.sizeMicro, 0);
  const tradeIds = fills.slice(0, tradesOfOrderMax).map(tradeId);
  const traded = { code: null, filledMicro, tradeIds };
  const canceled = rows.find(isOfKind('CANCELED'));
  if (isMatched(placed, filledMicro)) {
    const endedAtMs = fills.at(-1)?.timeMs ?? placed.timeMs;
    return { ...traded, status: 'MATCHED', reason: 'matched', endedAtMs };
  }
  if (canceled !== undefined || placed.status === 'CANCELED') {
    const reason = (canceled?.reason ?? restReason(placed, rows)).toLowerCase();
    const endedAtMs = (canceled ?? placed).timeMs;
    return { ...traded, status: 'CANCELED', reason, endedAtMs };
  }
  const status = placed.status === 'DELAYED' ? 'DELAYED' : 'LIVE';
  return { ...traded, status, reason: null, endedAtMs: null };
}

/**
 * The placement decides on what happened in it: a market buy may get more than its size and have money left for which
 * there is no seller.
 */
function isMatched({ status, sizeMicro }: StatedRow, filledMicro: number): boolean {
  return status === 'MATCHED' || (status !== 'CANCELED' && filledMicro >= sizeMicro);
}

/**
 * A rest that may not stay ends when its order is placed: of FAK and FOK always, of a delayed order when it was
 * canceled meanwhile, of any other when it met an order of the same owner.
 */
function restReason({ timeInForce }: StatedRow, rows: readonly OrderEventRow[]): string {
  const mayRest = timeInForce === 'GTC' || timeInForce === 'GTD';
  const isDelayed = rows.some((row) => row.kind === 'DELAYED');
  return mayRest && !isDelayed ? 'SELF_TRADE' : 'REMAINDER';
}

function delayedFacts(refused: RefusedRow | null): OrderFacts {
  const none = { filledMicro: 0, tradeIds: [] };
  if (refused === null)
    return { ...none, status: 'DELAYED', reason: null, code: null, endedAtMs: null };
  const { reason, timeMs } = refused;
  return { ...none, status: 'CANCELED', reason, code: reason, endedAtMs: timeMs };
}

type Kind = OrderEventRow['kind'];
type RowOf<K extends Kind> = Extract<OrderEventRow, { readonly kind: K }>;

function isOfKind<K extends Kind>(kind: K) {
  return (row: OrderEventRow): row is RowOf<K> => row.kind === kind;
}

/** In the order of the log: an order lives in one partition. Offsets are below 2^53 (schemas/src/trade-id.ts). */
function byPlace(left: OrderEventRow, right: OrderEventRow): number {
  return Number(left.inOffset) - Number(right.inOffset) || left.eventIndex - right.eventIndex;
}

/** Shown to others as the maker of an open order: clients parse an address. */
const hiddenMaker = `0x${'0'.repeat(40)}`;

/**
 * The order in both shapes clients read: camel case under `order`, snake case beside it (conventions.md 3.12). `owner`
 * is for its owner only; so are, of an open order, its maker, and its trades, which name the maker. It was created
 * and ended by the clock of its partition, which never goes back; the clock of the ingress that accepted it may be
 * ahead.
 */
export function orderAnswer(
  catalog: Catalog,
  { order: placed, facts }: AcceptedOrder,
  isOwner: boolean,
): StoredOrder {
  const market = catalog.market(placed.market);
  const wallet = parseWalletAddress(placed.wallet);
  const owner = isOwner ? placed.apiKey : null;
  const conditionId = market?.conditionId ?? '';
  const outcome = market?.outcomes[placed.outcome] ?? '';
  const assetId = market?.tokens[placed.outcome] ?? '';
  const isShown = isOwner || facts.endedAtMs !== null;
  const shownMaker = wallet === null ? placed.wallet : checksumAddress(wallet);
  const maker = isShown ? shownMaker : hiddenMaker;
  const trades = isShown ? facts.tradeIds : [];
  const statedMs = placed.expiresAtMs === 0 ? 0 : placed.expiresAtMs + gtdEarlySeconds * 1_000;
  const expiration = String(Math.floor(statedMs / 1000));
  const sizes = { original: microText(placed.sizeMicro), matched: microText(facts.filledMicro) };
  const price = priceText(placed.price);
  const shared = { id: placed.orderId, owner, price, side: placed.side, outcome, expiration };
  const endedAt = facts.endedAtMs === null ? null : isoTime(facts.endedAtMs);
  const ending = { reason: facts.reason, code: facts.code, ended_at: endedAt };
  return {
    order: {
      ...shared,
      associateTrades: [...trades],
      status: facts.status.toLowerCase(),
      market: conditionId,
      originalSize: sizes.original,
      makerAddress: maker,
      sizeMatched: sizes.matched,
      assetId,
      order_type: placed.timeInForce,
      createdAt: isoTime(placed.timeMs),
      ...ending,
    },
    ...shared,
    ...ending,
    status: facts.status,
    maker_address: maker,
    market: conditionId,
    asset_id: assetId,
    original_size: sizes.original,
    size_matched: sizes.matched,
    associate_trades: [...trades],
    created_at: Math.floor(placed.timeMs / 1000),
    order_type: placed.timeInForce,
  };
}

/** Rows of several orders, apart. */
export function rowsByOrder(
  rows: readonly OrderEventRow[],
): ReadonlyMap<string, readonly OrderEventRow[]> {
  const found = new Map<string, OrderEventRow[]>();
  for (const row of rows) {
    const known = found.get(row.orderId);
    if (known === undefined) found.set(row.orderId, [row]);
    else known.push(row);
  }
  return found;
}
