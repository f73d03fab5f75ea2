import { type RefusalCode, refusals } from './refusals.ts';

/** Whether a code that was read is one of this version. */
export function isRefusalCode(code: string): code is RefusalCode {
  return Object.hasOwn(refusals, code);
}

/** Whether the matcher remembers the refusal of an order: it has no other result, before or later. */
export function isFinalCode(code: string): boolean {
  return isRefusalCode(code) && refusals[code].final === true;
}
