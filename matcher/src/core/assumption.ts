/** An assumption of the core is false: its owner must stop, because the state can no longer be trusted. */
export class BrokenAssumption extends Error {
  override readonly name = 'BrokenAssumption';
}

/** States an assumption of the core. Data that comes from the log is refused instead, never assumed. */
export function assume(condition: boolean, assumption: string): asserts condition {
  if (!condition) throw new BrokenAssumption(assumption);
}

/** The end of an exhaustive switch: a case that is missing does not compile. */
export function unreachable(value: never): never {
  throw new BrokenAssumption(`no case handles ${JSON.stringify(value)}`);
}
