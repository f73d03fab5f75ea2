/** `unknown`: the engine does not say, or not to this account. */
export type Verdict = 'yes' | 'no' | 'unknown';

/** A verdict with its reason in one line, and what to do about a `no`. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly line: string;
  /** Only a `no` has one. */
  readonly todo?: string;
}

export function yes(line: string): Judgement {
  return { verdict: 'yes', line };
}

export function no(line: string, todo: string): Judgement {
  return { verdict: 'no', line, todo };
}

export function unknown(line: string): Judgement {
  return { verdict: 'unknown', line };
}

/** Something that the exchange needs of an engine; `E` is how the engine is asked. */
export interface Need<E> {
  readonly name: string;
  /** Page of `docs/operating` that says why, and what else fits. */
  readonly page: string;
  /** Changes nothing. Rejects where the engine does not answer, or not to this account. */
  check(engine: E): Promise<Judgement>;
}

/** A need by a question, which rejects as `Need.check` does, and a judge of the answer, which is pure. */
export function need<E, F>(parts: {
  readonly name: string;
  readonly page: string;
  ask(engine: E): Promise<F>;
  judge(found: F): Judgement;
}): Need<E> {
  const { name, page, ask, judge } = parts;
  return { name, page, check: async (engine) => judge(await ask(engine)) };
}

/** Asks once, however often the answer is needed. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | null = null;
  return () => {
    asked ??= ask();
    return asked;
  };
}
