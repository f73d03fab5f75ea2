import { setTimeout as wait } from 'node:timers/promises';
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
  readonly log: Log;
  /** How old the facts may be while the broker answers, milliseconds, default 1 s. */
  readonly askEveryMs?: number;
}

type Admin = Pick<LogAdmin, 'bounds' | 'groupMembers' | 'commits' | 'close'>;

const askEveryDefaultMs = 1_000;
/** A broker that has not answered by then is away, milliseconds. */
const answerTimeoutMs = 2_000;

/**
 * Reads in rounds who owns the partitions and how far their inputs go; what is known stays while the broker is away.
 */
export class PartitionWatch {
  readonly #parts: PartitionWatchOptions;
  readonly #closing = new AbortController();
  #admin: Admin | null = null;
  #inputs: ReadonlyMap<number, number> = new Map();
  #owners: ReadonlyMap<number, string> = new Map();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: PartitionWatchOptions) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#admin?.close();
  }

  /** What was read last. */
  facts(): PartitionFacts {
    return { inputs: this.#inputs, owners: this.#owners, counts: this.#parts.counts };
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#poll();
      const pauseMs = this.#parts.askEveryMs ?? askEveryDefaultMs;
      await wait(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  async #poll(): Promise<void> {
    const { client, topic, group, log } = this.#parts;
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
      this.#inputs = new Map([...bounds].map(([partition, { high }]) => [partition, high]));
      const placed = [...members].map(([at, { instance }]) => [at, instance] as const);
      const named = [...commits].map(([at, { metadata }]) => [at, metadata] as const);
      this.#owners = ownersOf(new Map(placed), new Map(named));
    } catch (error) {
      log.debug({ err: error }, 'the owners of the partitions are not known');
    }
  }
}
