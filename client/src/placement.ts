import {
  noOrder,
  ordersPerRequestMax,
  type PlacementResult,
  type RefusalCode,
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

/** Result of an order. */
export type Placement = PlacementResult & {
  /**
   * Set when the response was lost and the order was read instead: its present state. `makingAmount` and
   * `takingAmount`, the amounts filled at once, are then empty.
   */
  readonly order?: StoredOrder;
};

export interface PlacementOptions {
  /**
   * The order is refused as `too_late` when it reaches the book later than this after arrival; the exchange's own limit
   * is 2 s.
   */
  readonly timeToBookMs?: number;
  /** Default true: a `delayed` order is sent again until it is placed or the retry budget ends. */
  readonly awaitDelayed?: boolean;
}

/** How orders are sent. */
interface Sending extends PlacementOptions {
  readonly route: '/order' | '/orders';
  /** Signs what the order of this place of the request means once more; without it a late order stays refused. */
  signAnew?(index: number): Promise<BuiltOrder>;
}

/** An order in transit, and its results so far. */
interface Sent {
  order: BuiltOrder;
  result: Placement | null;
  /** The last result that was not definite. */
  last: Placement | null;
  /** It may be on the log without a result. */
  isDoubtful: boolean;
}

/**
 * Sends orders until each has a definite result: the same signed order is one order however often it is sent, so an
 * order without a response, or with a transient refusal, is sent again. When the retry budget ends, `GET
 * /data/order/{id}` decides. Resolves with as many results in the same order; throws `UnresolvedOrdersError` when that
 * does not decide either, and `ExchangeError` when the request as a whole is wrong. Signs nothing but, by `signAnew`,
 * orders that can never be booked because the exchange was too slow.
 */
export async function placeOrders(
  connection: Connection,
  orders: readonly BuiltOrder[],
  options: Sending,
): Promise<Placement[]> {
  if (orders.length === 0 || orders.length > ordersPerRequestMax) {
    throw new RangeError(`1 to ${ordersPerRequestMax} orders go into a request`);
  }
  const all = orders.map((order): Sent => ({ order, result: null, last: null, isDoubtful: false }));
  const retryBudget = connection.retryBudget();
  for (let tries = 1; ; tries += 1) {
    const open = all.filter(({ result }) => result === null);
    if (open.length === 0) break;
    const waitSeconds = await sendOnce(connection, open, { ...options, tries });
    const late = open.filter((sent) => isWorthAnother(sent, options));
    if (late.length === 0 && open.every(({ result }) => result !== null)) break;
    if (!(await retryBudget.next(waitSeconds))) break;
    await Promise.all(late.map((sent) => replace(sent, all.indexOf(sent), options)));
  }
  return await settleRest(connection, all);
}

type Round = PlacementOptions & { readonly route: '/order' | '/orders'; readonly tries: number };

const tooLate: RefusalCode = 'too_late';

/**
 * An order that is too late for its book can never be booked. Where the limit is the exchange's own, it was the
 * exchange that was slow, as after an outage, and not the client.
 */
function isWorthAnother({ result }: Sent, { signAnew, timeToBookMs }: Sending): boolean {
  return signAnew !== undefined && timeToBookMs === undefined && result?.code === tooLate;
}

/** Another order in place of one that can never be booked: nothing of what is known of that concerns it. */
async function replace(sent: Sent, index: number, { signAnew }: Sending): Promise<void> {
  const order = await signAnew?.(index);
  if (order !== undefined)
    Object.assign(sent, { order, result: null, last: null, isDoubtful: false });
}

/** One request for orders without a result; returns the seconds that the exchange requests to wait. */
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

/** A request that failed as a whole: each of its orders gets the same result. */
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

/** The order by the log; null when the log does not have it and it may still be in transit. */
async function readTruth(connection: Connection, sent: Sent): Promise<Placement | null> {
  // Every response proved that nothing was done: the log cannot have it.
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
