import { retryLimits, timeToBookHeader, validUntilHeader } from '@pm/schemas';

const visible = new RegExp(`^[\\x21-\\x7e]{1,${retryLimits.keyMaxChars}}$`);

/** The value of `Idempotency-Key`; undefined without one, null when it is none (conventions.md 3.9). */
export function readIdempotencyKey(header: string | readonly string[] | undefined) {
  if (header === undefined) return undefined;
  return typeof header === 'string' && visible.test(header) ? header : null;
}

/** A limit beyond this says nothing: the exchange's own is far below, milliseconds. */
const timeToBookMaxMs = 60_000;

/** How soon the orders of a request must be in their books. */
export interface BookTimes {
  /** Milliseconds from the arrival of the request; 0 is the exchange's own limit. */
  readonly ageLimitMs: number;
  /** Unix milliseconds; 0 without one. */
  readonly validUntilMs: number;
}

/**
 * `SERVICE_TIME_TO_BOOK_MS` and `SERVICE_VALID_UNTIL_MS`: an order is refused as `too_late` when it reaches its book
 * later than so many milliseconds after its request arrived, or after that time. Of both the earlier counts. The text
 * of the refusal when one of them is no such number (conventions.md 3.8).
 */
export function readBookTimes(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  arrivedAtMs: number,
): BookTimes | string {
  const askedMs = numberIn(headers[timeToBookHeader.toLowerCase()], /^[1-9]\d{0,8}$/);
  if (askedMs === null) return `${timeToBookHeader} is no whole number of milliseconds`;
  const validUntilMs = numberIn(headers[validUntilHeader.toLowerCase()], /^[1-9]\d{12}$/);
  if (validUntilMs === null) return `${validUntilHeader} is no Unix time in milliseconds`;
  if (askedMs === 0 && validUntilMs === 0) return { ageLimitMs: 0, validUntilMs };
  const limits = [timeToBookMaxMs];
  if (askedMs > 0) limits.push(askedMs);
  // What was late on its arrival is still late a millisecond after it.
  if (validUntilMs > 0) limits.push(Math.max(1, validUntilMs - arrivedAtMs));
  return { ageLimitMs: Math.min(...limits), validUntilMs };
}

/** 0 without a header, null when it has another form. */
function numberIn(header: string | readonly string[] | undefined, form: RegExp): number | null {
  if (header === undefined) return 0;
  return typeof header === 'string' && form.test(header) ? Number(header) : null;
}
