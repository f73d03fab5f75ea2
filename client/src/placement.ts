import {
  noOrder,
  ordersPerRequestMax,
  type PlacementResult,
  type StoredOrder,
  timeToBookHeader,
} from '@pm/schemas';
import type { Connection } from './connection.ts';
import {
  ExchangeError,
  isPassing,
  isPassingCode,
  overloadedCode,
  provesNothingDone,
  UnresolvedOrdersError,
} from './errors.ts';
import type { BuiltOrder } from './order.ts';

/** What became of an order. */
export type Placement = PlacementResult & {
  /**
   * Set when the answer was lost, and the order was read instead: its state now. `makingAmount` and `takingAmount`, what was
   * filled at once, are empty then.
   */
  readonly order?: StoredOrder;
};

export interface PlacementOptions {
  /** Be refused as `too_late` when the book is reached later than this after arrival; the exchange's own limit is 2 s. */
  readonly timeToBookMs?: number;
  /** Default true: an order that is answered `delayed` is asked for again until it is placed or patience is over. */
  readonly awaitDelayed?: boolean;
}

/** An order on its way, and what is known of it. */
interface Sent {
  readonly order: BuiltOrder;
  result: Placement | null;
  /** The last answer that was not definite. */
  last: Placement | null;
  /** It may be on the log, though nobody said so. */
  isDoubtful: boolean;
}

/**
 * Sends orders until each has a definite answer: the same signed order is one order however often it is sent, so what had no
 * answer, or one that says "not now", goes out again. When patience is over, `GET /data/order/{id}` decides. Resolves with as
 * many results in the same order; throws `UnresolvedOrdersError` when even that is not known, and `ExchangeError` when the
 * request as a whole is wrong. Signs nothing.
 */
export async function placeOrders(
  connection: Connection,
  orders: readonly BuiltOrder[],
  options: PlacementOptions & { readonly route: '/order' | '/orders' },
): Promise<Placement[]> {
  if (orders.length === 0 || orders.length > ordersPerRequestMax) {
    throw new RangeError(`1 to ${ordersPerRequestMax} orders go into a request`);
  }
  const all = orders.map((order): Sent => ({ order, result: null, last: null, isDoubtful: false }));
  const patience = connection.patience();
  for (let tries = 1; ; tries += 1) {
    const open = all.filter(({ result }) => result === null);
    if (open.length === 0) break;
    const waitSeconds = await sendOnce(connection, open, { ...options, tries });
    if (open.every(({ result }) => result !== null)) break;
    if (!(await patience.next(waitSeconds))) break;
  }
  return await settleRest(connection, all);
}

type Round = PlacementOptions & { readonly route: '/order' | '/orders'; readonly tries: number };

/** One request for what is open; tells how many seconds the exchange asks to wait. */
async function sendOnce(
  connection: Connection,
  open: readonly Sent[],
  round: Round,
): Promise<number | null> {
  const { timeToBookMs, route, tries } = round;
  const submissions = open.map(({ order }) => order.submission);
  const sent = {
    method: 'POST',
    path: route,
    body: route === '/order' ? submissions[0] : submissions,
    ...(timeToBookMs === undefined
      ? {}
      : { headers: { [timeToBookHeader]: String(timeToBookMs) } }),
  } as const;
  try {
    const answer = await connection.signedOnce<PlacementResult | PlacementResult[]>(sent, {
      tries,
    });
    return note(open, Array.isArray(answer) ? answer : [answer], round);
  } catch (error) {
    return noteFailure(open, error);
  }
}

function note(
  open: readonly Sent[],
  results: readonly PlacementResult[],
  { awaitDelayed = true }: Round,
): number | null {
  if (results.length !== open.length) throw new TypeError('as many results as orders are promised');
  let waitSeconds: number | null = null;
  for (const [index, sent] of open.entries()) {
    const result = results[index];
    if (result === undefined) continue;
    if (isDefinite(result, awaitDelayed)) sent.result = result;
    else {
      sent.last = result;
      sent.isDoubtful ||= result.success || !provesNothingDone(result.code ?? '');
      waitSeconds = Math.max(waitSeconds ?? 0, result.retry_after_seconds ?? 0);
    }
  }
  return waitSeconds;
}

function isDefinite(result: PlacementResult, awaitDelayed: boolean): boolean {
  if (result.status === 'delayed') return !awaitDelayed;
  return result.success || !isPassingCode(result.code ?? '');
}

/** A request that failed as a whole: each of its orders has the same answer. */
function noteFailure(open: readonly Sent[], error: unknown): number | null {
  if (!(error instanceof ExchangeError)) throw error;
  const refusal = refusalOf(error);
  const isOwnLimit = error.code === overloadedCode;
  if (!isOwnLimit && !isPassing(error)) {
    if (refusal === null) throw error;
    for (const sent of open) sent.result = refusal;
    return null;
  }
  for (const sent of open) {
    sent.last = refusal ?? sent.last;
    sent.isDoubtful ||= !provesNothingDone(error.code);
  }
  return error.retryAfterSeconds;
}

/** Statuses by which a request with several orders is refused because every one of them is. */
const commonStatuses = new Set([409, 425, 429, 503]);

/** A refused order is a result, not an exception; null when the error is not about orders. */
function refusalOf(error: ExchangeError): PlacementResult | null {
  const body = error.body as Partial<PlacementResult> | null;
  if (body?.success === false) return body as PlacementResult;
  if (!commonStatuses.has(error.status) || error.code === '') return null;
  const text = String(body?.error ?? '');
  const wait = error.retryAfterSeconds;
  return {
    ...refused(error.code, text),
    ...(wait === null ? {} : { retry_after_seconds: wait }),
  };
}

function refused(code: string, errorMsg: string): PlacementResult {
  return { success: false, errorMsg, code, ...noOrder };
}

async function settleRest(connection: Connection, all: readonly Sent[]): Promise<Placement[]> {
  let cause: unknown = null;
  for (const sent of all) {
    if (sent.result !== null) continue;
    try {
      sent.result = await readTruth(connection, sent);
    } catch (error) {
      cause = error;
    }
  }
  const results = all.map(({ result }) => result);
  const known = results.filter((result) => result !== null);
  if (known.length === all.length) return known;
  const unresolved = all.flatMap(({ order, result }) => (result === null ? [order] : []));
  throw new UnresolvedOrdersError(unresolved, { results, cause });
}

/** What the log says; null when it does not know the order and the order may still be on its way. */
async function readTruth(connection: Connection, sent: Sent): Promise<Placement | null> {
  // Every answer said that nothing was done: there is nothing to find.
  if (!sent.isDoubtful && sent.last !== null) return sent.last;
  try {
    const order = await connection.readOwn<StoredOrder>(`/data/order/${sent.order.orderId}`);
    return placementOf(order);
  } catch (error) {
    if (!(error instanceof ExchangeError) || error.status !== 404) throw error;
    return error.code === '' || error.code === 'order_not_found'
      ? null
      : refused(error.code, error.message);
  }
}

function placementOf(order: StoredOrder): Placement {
  const filled = Number(order.size_matched) > 0;
  const ended = filled || order.status === 'MATCHED' ? 'matched' : 'live';
  const status = order.status === 'DELAYED' ? 'delayed' : order.status === 'LIVE' ? 'live' : ended;
  return {
    success: true,
    errorMsg: '',
    orderID: order.id,
    orderHash: order.id,
    status,
    makingAmount: '',
    takingAmount: '',
    tradeIDs: [...order.associate_trades],
    order,
  };
}
