import { Random } from '@pm/kit/random';
import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { startMs } from '../core/commands.ts';
import { type ProcessOptions, topicNames } from './matcher-process.ts';
import { MemoryFiles } from './memory-files.ts';
import { MemoryLog, type SendResult } from './memory-log.ts';
import { ReplicaProcess, settle } from './replica-process.ts';
import { codecs, openingRecords, randomRecords } from './sealed-records.ts';

/** Steps of a history, and what happens in one of so many. */
const steps = 260;
const [pausesIn, killsIn, loadIn] = [25, 60, 3];
const quietRounds = 60;

/** Options of a history besides its seed. */
export interface HistoryOptions {
  /** The rules that the partition is opened with. */
  readonly rules?: number;
  /** As of `ReplicaProcess`. */
  readonly restoreWaitMs?: number;
  /** Options of the process that begins at one of the three places. */
  optionsAt?(place: number): ProcessOptions;
  /** Before each step of the history. */
  before?(step: number): Promise<void>;
}

/** A replica that runs, or stands still until a time; dead ones are replaced. */
interface Slot {
  replica: ReplicaProcess;
  pausedUntilMs: number;
}

/**
 * Three processes over one log: each fetches, sees copies, ticks and claims when the seed says so, stands still for any
 * time, dies, and loses sends and answers. Another one is preferred now and then.
 */
export class ReplicaHistory {
  readonly #random: Random;
  readonly #options: HistoryOptions;
  readonly log = new MemoryLog();
  readonly #load: Buffer[];
  readonly #slots: Slot[] = [];
  #nowMs = startMs;
  #isCalm = false;
  pauses = 0;
  kills = 0;

  constructor(seed: number, options: HistoryOptions = {}) {
    this.#random = new Random(seed);
    this.#options = options;
    for (const record of openingRecords(options.rules ?? newestRules))
      this.log.append(topicNames.orders, record);
    this.#load = [...randomRecords(seed, 400)];
    // Restores are many, and each batch of one reads the keys again.
    this.log.batchRecords = 40;
    this.log.verdict = () => this.#verdict();
    this.log.turns = () => (this.#isCalm ? 0 : this.#random.below(8));
    for (let count = 0; count < 3; count += 1) this.#slots.push(this.#open(count));
    this.#prefer(0);
  }

  async run(): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      await this.#options.before?.(step);
      await this.#step();
    }
    await this.calm();
    this.#isCalm = true;
    // Without timers there are no ticks, so that all come to the end.
    for (let round = 0; round < 3; round += 1)
      for (const { replica } of this.#slots) await replica.read();
  }

  /** For a while all processes run, and nothing is lost or held up. */
  async calm(): Promise<void> {
    this.#isCalm = true;
    for (const slot of this.#slots) slot.pausedUntilMs = 0;
    for (let round = 0; round < quietRounds; round += 1) {
      this.#nowMs += 25;
      for (const { replica } of this.#slots) {
        replica.process.nowMs = this.#nowMs;
        await replica.round();
      }
    }
    this.#isCalm = false;
  }

  /** The process at a place; another one after `replace`. */
  replicaAt(place: number): ReplicaProcess {
    return (this.#slots[place] as Slot).replica;
  }

  statuses() {
    return this.#slots.map(({ replica }) => replica.status);
  }

  claims(): Command[] {
    return this.log
      .records(topicNames.orders)
      .flatMap(({ value }) => codecs.orders.decode(value ?? Buffer.alloc(0)).commands)
      .filter(({ kind }) => kind === 'ClaimPartition');
  }

  async #step(): Promise<void> {
    const random = this.#random;
    this.#nowMs += random.pick([1, 5, 10, 25, 25, 60]);
    if (random.below(loadIn) === 0) this.#append(1 + random.below(4));
    if (random.below(killsIn) === 0) this.#kill();
    if (random.below(pausesIn) === 0) this.#pause();
    if (random.below(80) === 0) this.#prefer(random.below(3));
    for (const { replica, pausedUntilMs } of this.#slots) {
      if (pausedUntilMs > this.#nowMs) continue;
      replica.process.nowMs = this.#nowMs;
      const what = random.below(4);
      if (what === 0) await replica.fetch(1 + random.below(6));
      else if (what === 1) await replica.fetch();
      else if (what === 2) await replica.copies(1 + random.below(5));
      await replica.timer();
      await settle(random.below(4));
    }
  }

  #append(count: number): void {
    for (const record of this.#load.splice(0, count)) this.log.append(topicNames.orders, record);
  }

  #verdict(): SendResult {
    if (this.#isCalm || this.#random.below(15) > 0) return 'store';
    return this.#random.pick(['lose', 'store_and_lose_answer', 'refuse'] as const);
  }

  /** Another process begins at the place of one that is gone; what that one has sent may still arrive. */
  replace(place: number): void {
    const { isPreferred } = this.replicaAt(place).process;
    const next = this.#open(place);
    next.replica.process.isPreferred = isPreferred;
    this.#slots[place] = next;
  }

  #kill(): void {
    this.kills += 1;
    this.replace(this.#random.below(this.#slots.length));
  }

  #pause(): void {
    this.pauses += 1;
    const slot = this.#random.pick(this.#slots);
    slot.pausedUntilMs = this.#nowMs + this.#random.pick([100, 400, 700, 1_500]);
  }

  #prefer(at: number): void {
    for (const [index, { replica }] of this.#slots.entries())
      replica.process.isPreferred = index === at;
  }

  #open(place: number): Slot {
    const replica = new ReplicaProcess(this.log, {
      files: new MemoryFiles(),
      unseen: { outputsMax: 40, bytesMax: 1 << 20 },
      restoreWaitMs: this.#options.restoreWaitMs ?? 0,
      recordsPerSlice: 1 + this.#random.below(4),
      ...this.#options.optionsAt?.(place),
    });
    replica.process.isPreferred = false;
    return { replica, pausedUntilMs: 0 };
  }
}
