import { retryLimits } from '@pm/schemas/redis/keys';
import { firstSentHeader, timeToBookHeader, validUntilHeader } from '@pm/schemas/signing';

const visible = new RegExp(`^[\\x21-\\x7e]{1,${retryLimits.keyMaxChars}}$`);

/** The value of `Idempotency-Key`; undefined without one, null when it is none (conventions.md 3.9). */
export function readIdempotencyKey(header: string | readonly string[] | undefined) {
  if (header === undefined) return undefined;
  return typeof header === 'string' && visible.test(header) ? header : null;
}

/**
 * Bound of every limit that a request names, and of the age of its first attempt, milliseconds: far above the limit of
 * the exchange, so beyond it nothing changes.
 */
const timeToBookMaxMs = 60_000;

/** How soon the orders of a request must be in their books, and since when. */
export interface BookTimes {
  /** When they count as accepted: for fences, and for every limit. Unix milliseconds. */
  readonly acceptedAtMs: number;
  /** Milliseconds from then on; 0 is the exchange's own limit. */
  readonly ageLimitMs: number;
  /** Unix milliseconds; 0 without one. */
  readonly validUntilMs: number;
}

/**
 * `SERVICE_TIME_TO_BOOK_MS` and `SERVICE_VALID_UNTIL_MS`: an order is refused as `too_late` when it reaches its book
 * later than that number of milliseconds after its request arrived, or after that time. Of both the earlier counts.
 * `SERVICE_FIRST_SENT_MS` of a retry makes its orders as old as their first attempt, never younger than the retry, so
 * that cancels that came meanwhile cover them. They have a limit of their own, by which the log tells an acceptance
 * that a client names from one by the clock of ingress. The text of the refusal when one of them is no such number
 * (conventions.md 3.8).
 */
export function readBookTimes(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  arrivedAtMs: number,
): BookTimes | string {
  const askedMs = numberIn(headers[timeToBookHeader.toLowerCase()], /^[1-9]\d{0,8}$/);
  if (askedMs === null) return `${timeToBookHeader} is no whole number of milliseconds`;
  const validUntilMs = numberIn(headers[validUntilHeader.toLowerCase()], unixMs);
  if (validUntilMs === null) return `${validUntilHeader} is no Unix time in milliseconds`;
  const firstSentMs = numberIn(headers[firstSentHeader.toLowerCase()], unixMs);
  if (firstSentMs === null) return `${firstSentHeader} is no Unix time in milliseconds`;
  const acceptedAtMs = acceptanceOf(firstSentMs, arrivedAtMs);
  if (askedMs === 0 && validUntilMs === 0 && firstSentMs === 0)
    return { acceptedAtMs, ageLimitMs: 0, validUntilMs };
  const ends = [acceptedAtMs + timeToBookMaxMs];
  if (askedMs > 0) ends.push(arrivedAtMs + askedMs);
  if (validUntilMs > 0) ends.push(validUntilMs);
  // A request that was late on its arrival is still late a millisecond after its acceptance.
  const ageLimitMs = Math.max(1, Math.min(...ends) - acceptedAtMs);
  return { acceptedAtMs, ageLimitMs, validUntilMs };
}

const unixMs = /^[1-9]\d{12}$/;

/** An attempt that is older than any order may become is too late, however old it is. */
function acceptanceOf(firstSentMs: number, arrivedAtMs: number): number {
  if (firstSentMs === 0) return arrivedAtMs;
  return Math.min(arrivedAtMs, Math.max(firstSentMs, arrivedAtMs - timeToBookMaxMs));
}

/** 0 without a header, null when it has another form. */
function numberIn(header: string | readonly string[] | undefined, form: RegExp): number | null {
  if (header === undefined) return 0;
  return typeof header === 'string' && form.test(header) ? Number(header) : null;
}
