import type { DrilledExchange } from './drilled-exchange.ts';

/** One thing that happens to state that is not the log, or to the log itself. */
export interface Accident {
  /** State that is hit, e.g. `Redis`. */
  readonly state: string;
  /** The accident, e.g. `lost`. */
  readonly done: string;
  /** Words that an operator sees; null where nothing is noticed and nothing has to be. */
  readonly says: string | null;
  /** Action of the operator after the accident, as a page words it; null where no action is needed. */
  readonly wayBack: string | null;
  /** Whether it needs the right to mount a file system. */
  readonly mounts?: true;
  carryOut(exchange: DrilledExchange): Promise<void>;
  /** Carries out the way back, once the words were seen. */
  bringBack?(exchange: DrilledExchange): Promise<void>;
}

export const titleOf = ({ state, done }: Accident): string => `${state}: ${done}`;
