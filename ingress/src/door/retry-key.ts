import { retryLimits } from '@pm/schemas';

const visible = new RegExp(`^[\\x21-\\x7e]{1,${retryLimits.keyMaxChars}}$`);

/** The value of `Idempotency-Key`; undefined without one, null when it is none (conventions.md 1.15). */
export function readRetryKey(header: string | readonly string[] | undefined) {
  if (header === undefined) return undefined;
  return typeof header === 'string' && visible.test(header) ? header : null;
}
