import { retryLimits } from '@pm/schemas';

const visible = new RegExp(`^[\\x21-\\x7e]{1,${retryLimits.keyMaxChars}}$`);

/** The value of `Idempotency-Key`; undefined without one, null when it is none (conventions.md 3.9). */
export function readIdempotencyKey(header: string | readonly string[] | undefined) {
  if (header === undefined) return undefined;
  return typeof header === 'string' && visible.test(header) ? header : null;
}

/** A limit beyond this says nothing: the exchange's own is far below, milliseconds. */
const timeToBookMaxMs = 60_000;

/**
 * `SERVICE_TIME_TO_BOOK_MS`: the order is refused as `too_late` when it reaches its book later than so many
 * milliseconds after its request arrived. 0 without one, null when it is no whole number from 1 on (conventions.md
 * 3.8).
 */
export function readTimeToBook(header: string | readonly string[] | undefined): number | null {
  if (header === undefined) return 0;
  if (typeof header !== 'string' || !/^[1-9]\d{0,8}$/.test(header)) return null;
  return Math.min(Number(header), timeToBookMaxMs);
}
