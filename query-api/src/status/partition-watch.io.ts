import type { OpenedPartitions } from '@pm/domain/signoff/first-envelope.io';
import { within } from '@pm/kit/fault';
import type { LogAdmin } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { ownersOf, type PartitionFacts } from './partition-states.ts';

export interface PartitionWatchOptions {
  readonly client: { admin(): Promise<Admin> };
  /** Name of `orders` on the broker. */
  readonly topic: string;
  /** Consumer group of the matchers. */
  readonly group: string;
  readonly counts: PartitionFacts['counts'];
  /** Partitions that it shows; all without it. */
  readonly opened?: OpenedPartitions;
  readonly log: Log;
  /** Time from an answer of the broker to the next question, milliseconds, default 1 s. */
  readonly askEveryMs?: number;
}

type Admin = Pick<LogAdmin, 'bounds' | 'groupMembers' | 'commits' | 'close'>;

const askEveryDefaultMs = 1_000;
/** A broker that has not answered by then is away, milliseconds. */
const answerTimeoutMs = 2_000;

/**
 * Who owns the partitions and how far their inputs go, asked when a caller wants it and the last answer is older than
 * `askEveryMs`. What is known stays while the broker is away, and no caller waits for a broker that did not answer last
 * time.
 */
export class PartitionWatch {
  readonly #parts: PartitionWatchOptions;
  #admin: Admin | null = null;
  #inputs: ReadonlyMap<number, number> = new Map();
  #owners: ReadonlyMap<number, string> = new Map();
  #asking: Promise<void> | null = null;
  #askedMs = Number.NEGATIVE_INFINITY;
  #isAway = false;
  #isClosed = false;

  constructor(parts: PartitionWatchOptions) {
    this.#parts = parts;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#asking;
    await this.#admin?.close();
  }

  async facts(): Promise<PartitionFacts> {
    const { askEveryMs = askEveryDefaultMs } = this.#parts;
    const isOld = performance.now() - this.#askedMs >= askEveryMs;
    if (isOld && !this.#isClosed)
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = null;
      });
    if (!this.#isAway) await this.#asking;
    return { inputs: this.#inputs, owners: this.#owners, counts: this.#parts.counts };
  }

  async #ask(): Promise<void> {
    const { client, topic, group, opened, log } = this.#parts;
    try {
      this.#admin ??= await client.admin();
      const [bounds, members, commits] = await within(
        Promise.all([
          this.#admin.bounds(topic),
          this.#admin.groupMembers(group, topic),
          this.#admin.commits(group, topic),
        ]),
        answerTimeoutMs,
        () => new Error('the broker is silent'),
      );
      const shown = opened?.openedPartitions ?? [...bounds.keys()];
      this.#inputs = new Map(shown.map((one) => [one, bounds.get(one)?.high ?? 0]));
      const placed = [...members].map(([at, { instance }]) => [at, instance] as const);
      const named = [...commits].map(([at, { metadata }]) => [at, metadata] as const);
      this.#owners = ownersOf(new Map(placed), new Map(named));
      this.#isAway = false;
    } catch (error) {
      this.#isAway = true;
      log.debug({ err: error }, 'the owners of the partitions are not known');
    }
    this.#askedMs = performance.now();
  }
}
