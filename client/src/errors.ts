import { type PlacementResult, type RefusalCode, refusals } from '@pm/schemas';
import type { BuiltOrder } from './order.ts';

/** Transient statuses; 0 means no response. */
const passingStatuses = new Set([0, 425, 429, 500, 502, 503, 504]);

/** The client's own refusal: too many of its requests wait to be sent. */
export const overloadedCode = 'client_overloaded';

/** Codes of these statuses that waiting does not change: modes set by an operator, and the client's own overload. */
const lastingCodes = new Set<string>([
  ...(['post_only_mode', 'cancel_only', 'trading_disabled'] satisfies RefusalCode[]),
  overloadedCode,
]);

/** Refusals of a transient status that prove that nothing was carried out. */
const nothingDoneCodes = new Set<string>([
  'partition_not_ready',
  'ledger_not_ready',
  'overloaded',
  'old_generation',
  'rate_limited',
  'retries_unavailable',
  'too_many_retry_keys',
  'session_ending',
] satisfies RefusalCode[]);

/** A response of the exchange that is no success, or a missing response. */
export class ExchangeError extends Error {
  /** HTTP status; 0 without a response (refused, reset, timed out). */
  readonly status: number;
  /** A code of errors.md; `no_answer` without a response, `client_overloaded` when it was not sent, else empty. */
  readonly code: string;
  /** Whether the very same request can succeed later (errors.md, column retry). */
  readonly retryable: boolean;
  /** Seconds after which the same request may succeed; null when the response has none. */
  readonly retryAfterSeconds: number | null;
  /** Message of the response. */
  readonly body: unknown;

  constructor(
    status: number,
    body: unknown,
    more: { readonly retryAfterSeconds?: number | null; readonly cause?: unknown } = {},
  ) {
    super(`${status} ${messageOf(body)}`, { cause: more.cause });
    this.name = 'ExchangeError';
    this.status = status;
    this.body = body;
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

/** The same request may succeed later, so it is retried. */
export function isPassing(error: unknown): error is ExchangeError {
  if (!(error instanceof ExchangeError)) return false;
  return passingStatuses.has(error.status) && !lastingCodes.has(error.code);
}

/** Whether a refusal of a transient status has certainly changed nothing. */
export function provesNothingDone(code: string): boolean {
  return nothingDoneCodes.has(code) || code === overloadedCode;
}

/** Refusals that leave open what was done. */
const openCodes = new Set<string>([
  'internal_error',
  'unknown',
  'order_unconfirmed',
] satisfies RefusalCode[]);

/** Whether the code of an item of a batch is transient. */
export function isPassingCode(code: string): boolean {
  return nothingDoneCodes.has(code) || openCodes.has(code);
}

/**
 * The fate of orders could not be learnt within the limit: they may be on the book or come to it. Each is safe to send
 * again (`postOrder` with the same order), and `order(id)` returns the state once the exchange responds.
 */
export class UnresolvedOrdersError extends Error {
  readonly orders: readonly BuiltOrder[];
  /** Results of the other orders of the request, in its order; null for each of `orders`. */
  readonly results: readonly (PlacementResult | null)[];

  constructor(
    orders: readonly BuiltOrder[],
    { results, cause }: { results: readonly (PlacementResult | null)[]; cause: unknown },
  ) {
    super(`no definite result for ${orders.map(({ orderId }) => orderId).join(', ')}`, { cause });
    this.name = 'UnresolvedOrdersError';
    this.orders = orders;
    this.results = results;
  }
}

function isRefusalCode(code: string): code is RefusalCode {
  return Object.hasOwn(refusals, code);
}

function codeOf(body: unknown): string {
  const code = (body as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

function messageOf(body: unknown): string {
  const error = (body as { error?: unknown } | null)?.error;
  return typeof error === 'string' ? error : JSON.stringify(body);
}
