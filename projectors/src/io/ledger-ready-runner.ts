import type { LogAdmin } from '@pm/kit/kafka';
import type { Ledger, LedgerTopic } from '@pm/kit/ledger';
import type { Log } from '@pm/kit/log';

export interface LedgerReadyParts {
  readonly ledger: Ledger;
  readonly admin: Pick<LogAdmin, 'bounds'>;
  /** Names on the broker. */
  readonly topics: Readonly<Record<LedgerTopic, string>>;
  readonly log: Log;
  onState(ready: boolean): void;
}

/** How often the state is looked at: this long a lost Redis may go unnoticed here (reservations notice at once). */
const checkMs = 1_000;

/** The generation of a ledger that has never been lost. */
const firstGeneration = 1;

type Ends = ReadonlyMap<string, { topic: LedgerTopic; partition: number; end: number }>;

/**
 * Opens the ledger for reservations once everything up to the ends seen when it was found closed has been applied, by
 * whichever process applies it. After Redis was emptied the marks are gone, so that is the whole log again.
 */
export class LedgerReadyRunner {
  readonly #parts: LedgerReadyParts;
  #ends: Ends | null = null;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(parts: LedgerReadyParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = this.check()
      .catch((error: unknown) => {
        this.#parts.log.warn({ err: error }, 'the state of the ledger could not be read');
      })
      .finally(() => {
        if (!this.#closed) this.#timer = setTimeout(() => this.start(), checkMs);
      });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** One look. */
  async check(): Promise<void> {
    const { ledger, log } = this.#parts;
    const { ready, generation } = await ledger.state();
    if (ready) {
      this.#ends = null;
      this.#parts.onState(true);
      return;
    }
    this.#parts.onState(false);
    this.#ends ??= await this.#endsNow();
    for (const { topic, partition, end } of this.#ends.values())
      if ((await ledger.mark(topic, partition)) < end) return;
    const next = Math.max(generation, firstGeneration);
    await ledger.setReady(next);
    this.#parts.onState(true);
    log.info({ generation: next }, 'the ledger is open for reservations');
  }

  async #endsNow(): Promise<Ends> {
    const { admin, topics } = this.#parts;
    const ends = new Map<string, { topic: LedgerTopic; partition: number; end: number }>();
    for (const topic of ['executions', 'transfers'] as const)
      for (const [partition, { high }] of await admin.bounds(topics[topic]))
        ends.set(`${topic}:${partition}`, { topic, partition, end: high });
    return ends;
  }
}
