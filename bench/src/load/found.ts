import type { Freshness } from './freshness.ts';
import type { StepResult } from './run-step.ts';

/** Measurements of a run of bench:load. */
export interface Found {
  readonly steps: readonly StepResult[];
  /** Null when it was not measured. */
  readonly freshness: Freshness | null;
  /** Empty when it was not looked for. */
  readonly capacity: readonly StepResult[];
}
