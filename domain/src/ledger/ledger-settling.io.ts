import { AwaitedPlaces } from '../executions/awaited-places.io.ts';
import type { LogEnds } from '../executions/log-ends.io.ts';
import type { Ledger } from './ledger.io.ts';

export interface LedgerSettlingOptions {
  readonly ledger: Pick<Ledger, 'marks'>;
  /** The ends of `executions`. */
  readonly ends: Pick<LogEnds, 'read'>;
  /** Longest wait of one caller, milliseconds. */
  readonly waitMs?: number;
}

/** The ledger is some milliseconds behind the log, under full load some hundred. */
const waitDefaultMs = 1_000;
const pollMs = 4;

/** Waits for the ledger, which projectors feed from the log on their own. */
export class LedgerSettling {
  readonly #ends: Pick<LogEnds, 'read'>;
  readonly #places: AwaitedPlaces;

  constructor({ ledger, ends, waitMs = waitDefaultMs }: LedgerSettlingOptions) {
    this.#ends = ends;
    this.#places = new AwaitedPlaces({
      look: (partitions) => ledger.marks(partitions),
      waitMs,
      pollMs,
    });
  }

  /**
   * True once the ledger knows everything that was in `executions` at the call; false when that takes too long, or
   * cannot be found out. Never rejects.
   */
  async settle(): Promise<boolean> {
    try {
      return await this.#places.reach(await this.#ends.read());
    } catch {
      return false;
    }
  }
}
