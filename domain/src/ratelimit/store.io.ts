import type { RateRule } from '@pm/schemas';
import type { Caller } from './callers.ts';

/** What is wanted of one rule: `need` or nothing, and up to `more` on top to use later in the same window. */
export interface Want {
  readonly rule: RateRule;
  /** The caller's limit of this rule. */
  readonly limit: number;
  readonly need: number;
  readonly more: number;
}

/** What a rule gave: nothing to any of them, or at least `need` to each. */
export interface Grant {
  readonly granted: number;
  /** What is left in the window for everybody, after this. */
  readonly remaining: number;
}

export interface Granted {
  /** The clock of the store, Unix milliseconds; windows are counted by it. */
  readonly nowMs: number;
  /** One for each want, in order. */
  readonly grants: readonly Grant[];
}

/** What all processes count in together. Every method rejects when the store is away. */
export interface LimitStore {
  /** All wants of one request, in one step that nobody comes between: all of them or none. */
  take(caller: Caller, wants: readonly Want[]): Promise<Granted>;
  /** Used up in the current window, by the fields of the rules; what is missing is unused. */
  used(
    caller: Caller,
  ): Promise<{ readonly nowMs: number; readonly used: ReadonlyMap<string, number> }>;
  /** Resolves when the store answers. */
  reach(): Promise<void>;
}
