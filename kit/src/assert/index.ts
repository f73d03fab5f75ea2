import { Fault } from '../fault/index.ts';

/**
 * States what must hold. A broken assumption stops its owner (a `Fault` with reaction `stop`); data that comes off the
 * wire is refused instead, never asserted.
 */
export function assert(condition: unknown, assumption: string): asserts condition {
  if (!condition) throw new Fault('broken_assumption', 'stop', { facts: { assumption } });
}

/** Narrows a value that must be there, for lookups the caller has just made sure of. */
export function present<T>(value: T | null | undefined, what: string): T {
  assert(value !== null && value !== undefined, `${what} is present`);
  return value;
}
