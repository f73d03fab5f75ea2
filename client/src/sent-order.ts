import type { StoredOrder } from '@pm/schemas/http/reading';
import { noOrder, type PlacementResult } from '@pm/schemas/http/trading';
import { isFinalCode, isRefusalCode } from '@pm/schemas/refusal-codes';
import { refusals } from '@pm/schemas/refusals';
import {
  type ExchangeError,
  isPassing,
  isPassingCode,
  overloadedCode,
  provesNothingDone,
} from './errors.ts';
import type { BuiltOrder } from './order.ts';
import type { Placement } from './placement-result.ts';

/**
 * An attempt without an answer comes to the log within this time or never, milliseconds: its proof is good until 30 s
 * after its timestamp, which may be 30 s ahead, and its book takes it for 2 s (conventions.md 2.4, 3.8).
 */
export const attemptLifeMs = 65_000;

/** A refusal of a later attempt while the order is in doubt. */
interface LaterRefusal {
  readonly placement: Placement;
  /** It is about the order, so what was there before it has been read. */
  readonly isOfOrder: boolean;
}

/**
 * An order in transit, and what is known of it. Once an attempt has left open what it did, the order is in doubt, and
 * only a success or the log ends it: whatever refuses a later attempt may not know of the first one.
 */
export class SentOrder {
  readonly order: BuiltOrder;
  /** Definite. */
  result: Placement | null = null;
  /** When an attempt last left open whether it brought the order to the log, monotonic ms; null while none has. */
  lostMs: number | null;
  /** The last refusal that is not its result. */
  #last: Placement | null = null;
  /** Since the last lost attempt; the log has to be asked then. */
  #refusedInDoubt: LaterRefusal | null = null;

  constructor(order: BuiltOrder, lostMs: number | null) {
    this.order = order;
    this.lostMs = lostMs;
  }

  /** An attempt may have brought it to the log, or may still do so. */
  get isDoubtful(): boolean {
    return this.lostMs !== null;
  }

  /** It was sent before and has ended since: its first result does not say how. */
  get mustReadEnd(): boolean {
    const { success = false, alive, status, order } = this.result ?? {};
    return success && alive === false && order === undefined && status !== 'matched';
  }

  /** How it has ended. */
  noteEnd(found: Placement): void {
    const { success, status, order } = found;
    if (this.result === null || order === undefined) return;
    this.result = success ? { ...this.result, status, order } : found;
  }

  get mustReadLog(): boolean {
    return this.result === null && this.#refusedInDoubt !== null;
  }

  /** `awaitDelayed`: an order in its delay has no result yet. */
  note(result: PlacementResult, awaitDelayed: boolean): void {
    this.#refusedInDoubt = null;
    const code = result.code ?? '';
    if (result.success) {
      if (result.status === 'delayed' && awaitDelayed) this.#keep(result, true);
      else this.result = result;
    } else if (isPassingCode(code)) this.#keep(result, !provesNothingDone(code));
    else if (this.isDoubtful) this.#refusedInDoubt = { placement: result, isOfOrder: true };
    else this.result = result;
  }

  /** The request failed as a whole. */
  noteFailure(error: ExchangeError): void {
    const ofOrder = refusalOf(error);
    const refusal = ofOrder ?? refused(error.code, error.message);
    const isOfOrder = ofOrder !== null;
    const isUnchanged = provesNothingDone(error.code);
    if (isUnchanged || isPassing(error)) this.#keep(refusal, !isUnchanged);
    else if (this.isDoubtful) this.#refusedInDoubt = { placement: refusal, isOfOrder };
    else this.result = refusal;
  }

  /** The response cannot be read. */
  noteLost(): void {
    this.lostMs = performance.now();
    // It came before this attempt and says nothing of it.
    this.#refusedInDoubt = null;
  }

  /**
   * The log has the order, or the refusal of it. A refusal that the matcher does not remember is of one attempt only,
   * and a lost one may still come.
   */
  noteLog(found: Placement): void {
    const hasEnded = found.success || found.order !== undefined;
    if (hasEnded || isFinalCode(found.code ?? '')) this.result = found;
    else this.noteUnknown();
  }

  /**
   * The log has no order, and no refusal for good. A lost attempt may still come to it, while it can, and meets a
   * refusal for good as the later one did.
   */
  noteUnknown(): void {
    if (this.#refusedInDoubt === null) return;
    const { placement, isOfOrder } = this.#refusedInDoubt;
    const lastsUntilMs = (this.lostMs ?? Number.NEGATIVE_INFINITY) + attemptLifeMs;
    const isPast = isOfOrder && performance.now() > lastsUntilMs;
    if (isPast || isFinalCode(placement.code ?? '')) this.result = placement;
  }

  /** Nothing more is sent or asked. An order in doubt has no result without the log. */
  conclude(): void {
    if (!this.isDoubtful) this.result ??= this.#last;
  }

  #keep(result: Placement, isDoubtful: boolean): void {
    // An attempt that was not sent for want of time does not replace an answer of the exchange.
    if (this.#last === null || result.code !== overloadedCode) this.#last = result;
    if (isDoubtful) this.noteLost();
  }
}

/** Statuses by which a request with several orders is refused because every one of them is. */
const commonStatuses = new Set([409, 425, 429, 503]);

/** A refused order is a result, not an exception; null when the error is not about orders. */
export function refusalOf(error: ExchangeError): PlacementResult | null {
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

export function refused(code: string, errorMsg: string): PlacementResult {
  return { success: false, errorMsg, code, ...noOrder };
}

/** The result of an order that was read from the log. One that was refused when its delay ended was never placed. */
export function placementOf(order: StoredOrder): Placement {
  // An older exchange does not say it.
  const code = order.code ?? null;
  if (code !== null) return { ...refused(code, textOf(code)), order };
  return {
    success: true,
    errorMsg: '',
    orderID: order.id,
    orderHash: order.id,
    status: statusOf(order),
    makingAmount: '',
    takingAmount: '',
    tradeIDs: [...order.associate_trades],
    repeated: true,
    alive: isAlive(order),
    order,
  };
}

/** The text of a refusal; a code that this version does not know stands for itself. */
function textOf(code: string): string {
  return isRefusalCode(code) ? refusals[code].text : code;
}

function isAlive({ status }: StoredOrder): boolean {
  return status === 'LIVE' || status === 'DELAYED';
}

/** Ends of orders that never rest: what was filled at once is the result. */
const endsAtOnce: ReadonlySet<string | null> = new Set(['remainder', 'self_trade']);

function statusOf({ status, reason, size_matched: filled }: StoredOrder): Placement['status'] {
  if (status === 'DELAYED') return 'delayed';
  if (status === 'LIVE') return 'live';
  const isMatched = status === 'MATCHED' || (endsAtOnce.has(reason) && Number(filled) > 0);
  return isMatched ? 'matched' : 'canceled';
}
