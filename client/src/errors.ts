import { isRefusalCode } from '@pm/schemas/refusal-codes';
import { type RefusalCode, refusals, retryOf } from '@pm/schemas/refusals';
import type { BuiltOrder } from './order.ts';
import type { Placement } from './placement-result.ts';

/** Transient statuses of responses without a code of errors.md; 0 means no response. */
const passingStatuses = new Set([0, 425, 429, 500, 502, 503, 504]);

/** The client's own refusal: too many of its requests wait to be sent, or this one for too long. */
export const overloadedCode = 'client_overloaded';

/** The client's own refusal: a cancel or a missed session came before the order was sent. */
export const canceledCode = 'client_canceled';

const ownCodes = new Set([overloadedCode, canceledCode]);

/** The wall clock of the sender is off; the response has the time of the exchange. */
const skewCode: RefusalCode = 'timestamp_skew';

/** A response of the exchange that is no success, or a missing response. */
export class ExchangeError extends Error {
  /** HTTP status; 0 without a response (refused, reset, timed out). */
  readonly status: number;
  /**
   * A code of errors.md; `no_answer` without a response, `client_overloaded` or `client_canceled` when it was not sent,
   * else empty.
   */
  readonly code: string;
  /** Whether the very same request can succeed later (errors.md, column retry). */
  readonly retryable: boolean;
  /** Seconds after which the same request may succeed; null when the response has none. */
  readonly retryAfterSeconds: number | null;
  /** Message of the response. */
  readonly body: unknown;
  /** Headers of the response, by names in lower case; empty without one. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    body: unknown,
    more: {
      readonly retryAfterSeconds?: number | null;
      readonly headers?: Readonly<Record<string, string>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(`${status} ${messageOf(body)}`, { cause: more.cause });
    this.name = 'ExchangeError';
    this.status = status;
    this.body = body;
    this.headers = more.headers ?? {};
    this.code = codeOf(body);
    this.retryAfterSeconds = more.retryAfterSeconds ?? null;
    this.retryable = isRefusalCode(this.code)
      ? refusals[this.code].retry
      : passingStatuses.has(status);
  }
}

/** The domain belongs to other exchanges, or is not what this client signed for so far: nothing was signed. */
export class SigningDomainError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SigningDomainError';
  }
}

/** Whether the same request may succeed later, so that it is retried. */
export function isPassing(error: unknown): error is ExchangeError {
  if (!(error instanceof ExchangeError)) return false;
  if (isRefusalCode(error.code)) return isPassingCode(error.code);
  return passingStatuses.has(error.status) && !ownCodes.has(error.code);
}

/** A refusal because the clock of the sender is off: it has the time of the exchange. */
export function isSkew(error: unknown): error is ExchangeError {
  return error instanceof ExchangeError && error.code === skewCode;
}

/** Whether waiting helps after a refusal (errors.md, "Waiting"). */
export function isPassingCode(code: string): boolean {
  const retry = isRefusalCode(code) ? retryOf(code) : undefined;
  return retry === 'unchanged' || retry === 'unknown';
}

/** Whether the request of a transient refusal has certainly changed nothing. */
export function provesNothingDone(code: string): boolean {
  return ownCodes.has(code) || (isRefusalCode(code) && retryOf(code) === 'unchanged');
}

/** Whether the exchange has not said what became of a request: it may be carried out, or may be yet. */
export function leavesOpen({ code }: ExchangeError): boolean {
  return !ownCodes.has(code) && (!isRefusalCode(code) || retryOf(code) === 'unknown');
}

/** Whether a refusal says that something does not exist, so that it is none of an order by the log. */
export function isNotFoundCode(code: string): boolean {
  return isRefusalCode(code) && refusals[code].status === 404;
}

/**
 * The fate of orders could not be learnt within the limit: they may be on the book or come to it. Each is safe to send
 * again (`postOrder` with the same order), and `order(id)` returns the state once the exchange responds. Do not sign
 * others in their place before.
 */
export class UnresolvedOrdersError extends Error {
  readonly orders: readonly BuiltOrder[];
  /** Results of the other orders of the request, in its order; null for each of `orders`. */
  readonly results: readonly (Placement | null)[];

  constructor(
    orders: readonly BuiltOrder[],
    { results, cause }: { results: readonly (Placement | null)[]; cause: unknown },
  ) {
    super(`no definite result for ${orders.map(({ orderId }) => orderId).join(', ')}`, { cause });
    this.name = 'UnresolvedOrdersError';
    this.orders = orders;
    this.results = results;
  }
}

/**
 * The fate of an account action could not be learnt within the limit: it may be carried out, or may be yet. `cause` is
 * the last failure. The same action with `actionId` as its `id` is carried out once, however often it is sent; do not
 * send it with another id before it has a result.
 */
export class UnresolvedActionError extends Error {
  readonly actionId: string;

  constructor(actionId: string, cause: unknown) {
    super(`no definite result for action ${actionId}`, { cause });
    this.name = 'UnresolvedActionError';
    this.actionId = actionId;
  }
}

function codeOf(body: unknown): string {
  const code = (body as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

function messageOf(body: unknown): string {
  const error = (body as { error?: unknown } | null)?.error;
  return typeof error === 'string' ? error : JSON.stringify(body);
}
