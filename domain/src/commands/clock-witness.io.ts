import type { Clock } from '@pm/kit/clock';
import { clockLeapMaxMs } from '@pm/schemas/log/log-rules';
import type { EnvelopeSender } from './envelope-sender.io.ts';

/** Time between two witnesses of one partition, milliseconds. */
const witnessEveryMs = 1_000;

interface ClockWitnessParts {
  readonly clock: Clock;
  readonly envelopes: Pick<EnvelopeSender, 'add'>;
}

/**
 * Bears witness to the time where the clock of a partition is far back, as after a night without an owner: the owner
 * alone may not move it so far (`clockLeapMaxMs`).
 */
export class ClockWitness {
  readonly #parts: ClockWitnessParts;
  /** When a witness of each partition was sent last, on the monotonic clock. */
  readonly #sentMs = new Map<number, number>();

  constructor(parts: ClockWitnessParts) {
    this.#parts = parts;
  }

  /** Takes the clock of a partition after one of its executions. */
  see(partition: number, clockMs: number): void {
    const { clock, envelopes } = this.#parts;
    const timeMs = clock.nowMs();
    if (timeMs - clockMs <= clockLeapMaxMs) return;
    const sentMs = this.#sentMs.get(partition) ?? Number.NEGATIVE_INFINITY;
    const nowMs = clock.monotonicMs();
    if (nowMs - sentMs < witnessEveryMs) return;
    this.#sentMs.set(partition, nowMs);
    envelopes.add(partition, { kind: 'Tick', term: 0, timeMs });
  }
}
