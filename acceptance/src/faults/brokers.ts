import { setTimeout as wait } from 'node:timers/promises';
import type { RunningStack } from '@pm/deploy/stack/stack';
import { topics } from '@pm/schemas/log/topics';
import { type Admin, Kafka, logLevel } from 'kafkajs';

/** Leader (-1 for none) and copies in sync of a partition. */
interface PartitionState {
  readonly partition: number;
  readonly leader: number;
  readonly inSync: number;
}

/** Longest wait for an answer of any broker, and the pause between two questions, milliseconds. */
const answerMaxMs = 30_000;
const askedAgainMs = 250;

/** The brokers of a stack as the metadata of its topics shows them. */
export class Brokers {
  readonly #admin: Admin;
  readonly #copies: number;

  private constructor(admin: Admin, copies: number) {
    this.#admin = admin;
    this.#copies = copies;
  }

  static async open({ urls }: RunningStack): Promise<Brokers> {
    const brokers = urls.kafka.split(',');
    const admin = new Kafka({
      brokers,
      clientId: 'faults',
      logLevel: logLevel.NOTHING,
      requestTimeout: 2_000,
      retry: { initialRetryTime: 50, maxRetryTime: 200, retries: 100 },
    }).admin();
    await admin.connect();
    return new Brokers(admin, brokers.length);
  }

  /** The broker that leads most partitions of orders and of their outputs. */
  async busiestLeader(): Promise<number> {
    const led = new Map<number, number>();
    for (const { leader } of await this.#known()) led.set(leader, (led.get(leader) ?? 0) + 1);
    const [busiest] = [...led].sort(([, one], [, other]) => other - one);
    if (busiest === undefined) throw new Error('no partition has a leader');
    return busiest[0];
  }

  /** Partitions whose orders or outputs a broker leads. */
  async ledBy(broker: number): Promise<ReadonlySet<number>> {
    const states = await this.#known();
    return new Set(
      states.filter(({ leader }) => leader === broker).map(({ partition }) => partition),
    );
  }

  /** Whether every partition has a leader and all its copies; false while that cannot be asked. */
  async isWhole(): Promise<boolean> {
    const states = await this.#states().catch(() => null);
    return states?.every(({ leader, inSync }) => leader > 0 && inSync === this.#copies) === true;
  }

  async close(): Promise<void> {
    await this.#admin.disconnect();
  }

  /** Asks again while no broker answers: brokers of a busy machine may be slow after an earlier fault. */
  async #known(): Promise<readonly PartitionState[]> {
    const untilMs = performance.now() + answerMaxMs;
    for (;;) {
      try {
        return await this.#states();
      } catch (error) {
        if (performance.now() > untilMs) throw error;
        await wait(askedAgainMs);
      }
    }
  }

  async #states(): Promise<readonly PartitionState[]> {
    const names = [topics.orders.name, topics.executions.name];
    const { topics: found } = await this.#admin.fetchTopicMetadata({ topics: names });
    return found.flatMap(({ partitions }) =>
      partitions.map(({ partitionId, leader, isr }) => ({
        partition: partitionId,
        leader,
        inSync: isr.length,
      })),
    );
  }
}
