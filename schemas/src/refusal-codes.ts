import { type RefusalCode, refusals } from './refusals.ts';

/** Whether a code that was read is one of this version. */
export function isRefusalCode(code: string): code is RefusalCode {
  return Object.hasOwn(refusals, code);
}

/** Whether the matcher remembers the refusal of an order: it has no other result, before or later. */
export function isFinalCode(code: string): boolean {
  return isRefusalCode(code) && refusals[code].final === true;
}

const retryAfterStatuses: ReadonlySet<number> = new Set([425, 429, 503]);

/** Whether the response of a refusal carries the header `Retry-After`. */
export function hasRetryAfter(code: RefusalCode): boolean {
  return retryAfterStatuses.has(refusals[code].status);
}

/** Seconds after which the same request is worth another attempt; undefined where waiting alone does not help. */
export function retryAfterSeconds(code: RefusalCode): number | undefined {
  return hasRetryAfter(code) ? 1 : undefined;
}
