import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import type { UnseenLimits } from '../../src/partition/unseen-outputs.ts';
import { startMs } from '../core/commands.ts';
import { topicNames } from './matcher-process.ts';
import { MemoryFiles } from './memory-files.ts';
import { MemoryLog } from './memory-log.ts';
import { readOutputs } from './reading.ts';
import { ReplicaProcess } from './replica-process.ts';
import { codecs, keys, openingRecords, randomRecords, sealed } from './sealed-records.ts';

/** Two replicas on one log and one disk; the first is the preferred one. */
export class Pair {
  readonly log = new MemoryLog();
  readonly files = new MemoryFiles();
  readonly one: ReplicaProcess;
  readonly two: ReplicaProcess;
  nowMs = startMs;

  constructor(
    seed: number,
    { earlier = 40, ...options }: { earlier?: number; unseen?: UnseenLimits } = {},
  ) {
    const records = [...openingRecords(newestRules), ...randomRecords(seed, earlier)];
    for (const record of records) this.log.append(topicNames.orders, record);
    this.log.batchRecords = 1_000;
    this.one = new ReplicaProcess(this.log, { files: this.files, ...options });
    this.two = new ReplicaProcess(this.log, { files: this.files, ...options });
    this.two.process.isPreferred = false;
  }

  /** Time passes for those that run. */
  async pass(ms: number, ...running: readonly ReplicaProcess[]): Promise<void> {
    for (let left = ms; left > 0; left -= 25) {
      this.nowMs += 25;
      for (const replica of running) {
        replica.process.nowMs = this.nowMs;
        await replica.round();
      }
    }
  }

  async start(): Promise<void> {
    await this.one.restore();
    await this.two.restore();
    await this.pass(100, this.one, this.two);
  }

  append(...commands: readonly Command[]): number {
    return this.log.append(topicNames.orders, sealed(keys.ingress, commands));
  }

  roles() {
    return [this.one, this.two].map(({ status: { role, term } }) => `${role} ${term}`);
  }

  commands() {
    return this.log
      .records(topicNames.orders)
      .flatMap(({ value }) => codecs.orders.decode(value ?? Buffer.alloc(0)).commands);
  }

  /** Every input has one output, whatever was written twice, and who stands by has seen all. */
  async expectWhole(): Promise<void> {
    for (const replica of [this.one, this.two, this.one, this.two]) await replica.read();
    const inputs = this.log.records(topicNames.orders).length;
    expect(readOutputs(this.log).executions.length).toBe(inputs);
  }
}
