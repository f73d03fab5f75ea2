/** What the core relies on turned out to be false: its owner must stop, the state can no longer be trusted. */
export class BrokenAssumption extends Error {
  override readonly name = 'BrokenAssumption';
}

/** States what must hold inside the core; data that comes off the log is refused instead, never assumed. */
export function assume(condition: boolean, assumption: string): asserts condition {
  if (!condition) throw new BrokenAssumption(assumption);
}
