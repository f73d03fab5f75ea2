import { setTimeout as wait } from 'node:timers/promises';
import type { LogPlace } from '@pm/deploy/installation/fee-wallet';
import { StackError } from '@pm/deploy/local/stack-error';
import { type LogAdmin, type LogProducer, readRange, type TopicSpec } from '@pm/kit/kafka';
import { topics } from '@pm/schemas/log/topics';
import { BatchWriter } from './batch-writer.ts';
import { type CopyMarker, copyNameOf, markerKey, parseMarker } from './copy-marker.ts';
import { OutputLog } from './output-log.ts';
import type { OutputGap } from './stored-outputs.ts';

interface RepairOptions {
  /** Only says what is missing. */
  readonly dryRun: boolean;
  onStep(line: string): void;
}

interface RepairResult {
  /** `interrupted`: an earlier run made the copy, and only a run that may change something can end it. */
  readonly state: 'whole' | 'missing' | 'interrupted' | 'repaired';
  readonly gaps: readonly OutputGap[];
}

/**
 * Writes outputs that are missing in `executions`: computes them from `orders`, writes the whole topic in its right
 * order into a copy beside it, then makes the topic again from the copy, with the commits of its readers. An
 * interrupted run is resumed: until the copy is complete the topic is untouched, afterwards the copy holds everything.
 * Rejects with a `StackError`, before anything is changed, while services run and where outputs differ.
 */
export async function runRepair(place: LogPlace, options: RepairOptions): Promise<RepairResult> {
  const admin = await place.client.admin();
  try {
    return await new Repair(place, options, await OutputLog.open(place, admin), admin).run();
  } finally {
    await admin.close();
  }
}

/** Looks at the restored commits, so many in a row without a missing one. */
const quietChecks = 5;
const quietCheckMs = 500;

class Repair {
  readonly #place: LogPlace;
  readonly #options: RepairOptions;
  readonly #log: OutputLog;
  readonly #admin: LogAdmin;
  readonly #copy: string;

  constructor(place: LogPlace, options: RepairOptions, log: OutputLog, admin: LogAdmin) {
    this.#place = place;
    this.#options = options;
    this.#log = log;
    this.#admin = admin;
    this.#copy = copyNameOf(log.names.executions);
  }

  async run(): Promise<RepairResult> {
    const { dryRun, onStep } = this.#options;
    const marker = await this.#completeCopy();
    if (marker !== null) {
      if (dryRun) return { state: 'interrupted', gaps: [] };
      onStep('an earlier run was interrupted after its copy was complete: resuming');
      await this.#replace(marker);
      return { state: 'repaired', gaps: [] };
    }
    const gaps = await this.#findGaps();
    if (gaps.length === 0) return { state: 'whole', gaps };
    if (dryRun) return { state: 'missing', gaps };
    await this.#assertNoServices();
    await this.#replace(await this.#makeCopy());
    return { state: 'repaired', gaps };
  }

  async #findGaps(): Promise<readonly OutputGap[]> {
    const { executions } = this.#log.names;
    const gaps: OutputGap[] = [];
    for (const partition of (await this.#admin.bounds(executions)).keys()) {
      this.#options.onStep(`computing the outputs of partition ${partition}`);
      gaps.push(...(await this.#log.layOut(partition, async () => {})));
    }
    return gaps;
  }

  async #makeCopy(): Promise<CopyMarker> {
    const { executions } = this.#log.names;
    if (await this.#admin.hasTopic(this.#copy)) await this.#admin.deleteTopic(this.#copy);
    await this.#admin.ensureTopics([await this.#specLike(executions, this.#copy)]);
    const producer = await this.#place.client.producer();
    const ends: [number, number][] = [];
    for (const partition of (await this.#admin.bounds(executions)).keys()) {
      this.#options.onStep(`writing the copy of partition ${partition}`);
      const writer = new BatchWriter(producer, { topic: this.#copy, partition });
      await this.#log.layOut(partition, (...record) => writer.push(...record));
      await writer.flush();
      ends.push([partition, writer.written]);
    }
    const readers = await this.#admin.readersOf(executions);
    const commits = readers.map(({ groupId, commits }) => ({ groupId, commits: [...commits] }));
    const marker = { ends, commits };
    await producer.send([
      {
        topic: this.#copy,
        partition: 0,
        key: markerKey,
        value: Buffer.from(JSON.stringify(marker)),
      },
    ]);
    return marker;
  }

  /** The topic again, from a complete copy. May be repeated. */
  async #replace(marker: CopyMarker): Promise<void> {
    await this.#assertNoServices();
    const { executions } = this.#log.names;
    const spec = await this.#specLike(this.#copy, executions);
    if (await this.#admin.hasTopic(executions)) await this.#admin.deleteTopic(executions);
    await this.#admin.ensureTopics([spec]);
    const producer = await this.#place.client.producer();
    for (const [partition, end] of marker.ends) await this.#copyBack(producer, partition, end);
    await this.#restoreCommits(marker);
    await this.#admin.deleteTopic(this.#copy);
  }

  async #copyBack(producer: LogProducer, partition: number, end: number): Promise<void> {
    this.#options.onStep(`writing partition ${partition}: ${end} records`);
    const writer = new BatchWriter(producer, { topic: this.#log.names.executions, partition });
    await readRange(this.#place.client, {
      topic: this.#copy,
      partition,
      from: 0,
      to: end,
      onBatch: async ({ records }) => {
        for (const { value, timestampMs } of records)
          if (value !== null) await writer.push(value, timestampMs);
      },
    });
    await writer.flush();
  }

  /** The broker forgets the commits of a deleted topic a moment after the topic, perhaps after these were set. */
  async #restoreCommits({ commits }: CopyMarker): Promise<void> {
    const { executions } = this.#log.names;
    for (let quiet = 0; quiet < quietChecks; ) {
      let isWhole = true;
      for (const { groupId, commits: wanted } of commits) {
        const found = await this.#admin.commits(groupId, executions);
        if (wanted.every(([partition]) => found.has(partition))) continue;
        isWhole = false;
        await this.#admin.setCommits(groupId, executions, new Map(wanted));
      }
      quiet = isWhole ? quiet + 1 : 0;
      await wait(quietCheckMs);
    }
  }

  /** The marker of a copy that an earlier run has completed; null when there is none. */
  async #completeCopy(): Promise<CopyMarker | null> {
    if (!(await this.#admin.hasTopic(this.#copy))) return null;
    const high = (await this.#admin.bounds(this.#copy)).get(0)?.high ?? 0;
    let marker: CopyMarker | null = null;
    if (high === 0) return null;
    await readRange(this.#place.client, {
      topic: this.#copy,
      partition: 0,
      from: high - 1,
      to: high,
      onBatch: async ({ records }) => {
        marker = parseMarker(records[0]);
      },
    });
    return marker;
  }

  async #specLike(topic: string, name: string): Promise<TopicSpec> {
    const { copies, minInSync } = await this.#admin.durability(topic);
    return {
      name,
      partitions: (await this.#admin.bounds(topic)).size,
      replicationFactor: copies,
      minInSyncReplicas: minInSync ?? Math.max(1, copies - 1),
      compacted: topics.executions.compacted,
      maxMessageBytes: topics.executions.maxMessageBytes,
      retentionMs: -1,
    };
  }

  /** Matchers write the topic, and readers would see it half written. */
  async #assertNoServices(): Promise<void> {
    const { orders, executions } = this.#log.names;
    const topicsRead = [orders, executions];
    for (const topic of topicsRead) {
      if (!(await this.#admin.hasTopic(topic))) continue;
      const running = (await this.#admin.readersOf(topic)).find(({ members }) => members > 0);
      if (running === undefined) continue;
      throw new StackError(
        'BAD_DESCRIPTION',
        `services still run (group ${running.groupId}): stop all of them, leave the engines running, and run the repair again`,
      );
    }
  }
}
