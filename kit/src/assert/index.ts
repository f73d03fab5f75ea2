import { Fault } from '../fault/index.ts';

/**
 * Asserts a condition. A broken assumption stops its owner (a `Fault` with reaction `stop`); data from the network is
 * refused, never asserted.
 */
export function assert(condition: unknown, assumption: string): asserts condition {
  if (!condition) throw new Fault('broken_assumption', 'stop', { facts: { assumption } });
}

/** Narrows a value that must be present, for lookups that the caller has just checked. */
export function present<T>(value: T | null | undefined, what: string): T {
  assert(value !== null && value !== undefined, `${what} is present`);
  return value;
}
