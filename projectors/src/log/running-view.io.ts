import { Fault } from '@pm/kit/fault';
import type { LogClient, PartitionGroup, RecordBatch } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { StatusStore } from './progress.io.ts';

/** One partition of a view, from its assignment to the next. */
export interface PartitionProjection {
  /** First offset to read. */
  readonly from: number;
  /** Clock of the partition at the last record; 0 when there was none. */
  readonly lastTimeMs: number;
  /** Resolves to the next offset whose effects are not stored yet: the end of the batch, or less when writing waits. */
  project(batch: RecordBatch): Promise<number>;
  close(): Promise<void>;
}

/** A view as a consumer group: how it takes over one partition. */
export interface ViewDefinition {
  readonly view: string;
  readonly groupId: string;
  readonly topic: string;
  /** Restores what is stored. `fail` reports a fault that happens outside of `project`. */
  assign(partition: number, group: ViewGroup): Promise<PartitionProjection>;
}

export interface ViewGroup extends Pick<PartitionGroup, 'commit' | 'committed'> {
  fail(error: unknown): void;
  /** Tells that everything below `position` is stored, when that happens outside of `project`. */
  stored(position: number): void;
}

export interface ViewParts {
  readonly client: LogClient;
  readonly status: StatusStore;
  readonly log: Log;
  readonly instance: string;
  /** Ends the process: faults of the whole group. */
  fail(error: unknown): void;
}

/** Waits before a partition is restored after a fault, milliseconds; doubles up to the second. */
const firstRestoreMs = 500;
const maxRestoreMs = 15_000;

export interface RunningView {
  close(): Promise<void>;
  /**
   * Restores every partition of ours that has come further than what is stored of it, by `storedOf`: what was stored was
   * lost, and a partition without new records would not notice.
   */
  restoreBehind(storedOf: (partition: number) => Promise<number>): Promise<void>;
}

/** Runs a view until `close`. Faults that pass restore their partition, others halt it; the other partitions go on. */
export async function runView(parts: ViewParts, view: ViewDefinition): Promise<RunningView> {
  const runner = new ViewRunner(parts, view);
  await runner.start();
  return runner;
}

class ViewRunner implements RunningView {
  readonly #parts: ViewParts;
  readonly #view: ViewDefinition;
  readonly #projections = new Map<number, PartitionProjection>();
  /** Where each projection has come to. */
  readonly #positions = new Map<number, number>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #restoreMs = new Map<number, number>();
  #group: Promise<PartitionGroup> | null = null;
  #closed = false;

  constructor(parts: ViewParts, view: ViewDefinition) {
    this.#parts = parts;
    this.#view = view;
  }

  async start(): Promise<void> {
    const { client, status, instance } = this.#parts;
    const { groupId, topic, view } = this.#view;
    status.await(`joining:${view}`);
    this.#group = client.group({
      groupId,
      topic,
      dense: true,
      ...(instance === '' ? {} : { instance }),
      onAssigned: (partition) => this.#assign(partition),
      onRevoked: (partition) => this.#revoke(partition),
      onBatch: (batch) => this.#project(batch),
      onFault: (fault, partition) => this.#onFault(fault, partition),
    });
    await this.#group;
    status.done(`joining:${view}`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await (await this.#group)?.close();
  }

  async restoreBehind(storedOf: (partition: number) => Promise<number>): Promise<void> {
    for (const [partition, position] of this.#positions) {
      if ((await storedOf(partition)) >= position) continue;
      const facts = { view: this.#view.view, partition, position };
      this.#parts.log.warn(facts, 'what was stored of a partition is lost: it is restored');
      this.#positions.delete(partition);
      this.#restoreLater(partition);
    }
  }

  async #assign(partition: number): Promise<number> {
    const { status } = this.#parts;
    status.assigning(this.#view.view, partition);
    await this.#end(partition);
    const group = await this.#group;
    if (group === null) throw new Fault('group_missing', 'release');
    const projection = await this.#view.assign(partition, {
      commit: (...args) => group.commit(...args),
      committed: (one) => group.committed(one),
      fail: (error) => {
        group.release(partition);
        this.#onFault(faultOf(error), partition);
      },
      stored: (position) => status.stored(this.#view.view, partition, position),
    });
    this.#projections.set(partition, projection);
    this.#positions.set(partition, projection.from);
    status.running(this.#view.view, partition, projection.from);
    return projection.from;
  }

  async #revoke(partition: number): Promise<void> {
    clearTimeout(this.#timers.get(partition));
    await this.#end(partition);
    this.#parts.status.revoked(this.#view.view, partition);
  }

  async #end(partition: number): Promise<void> {
    const projection = this.#projections.get(partition);
    this.#projections.delete(partition);
    this.#positions.delete(partition);
    await projection?.close();
  }

  async #project(batch: RecordBatch): Promise<void> {
    const projection = this.#projections.get(batch.partition);
    if (projection === undefined) throw new Fault('partition_not_ours', 'release');
    const position = await projection.project(batch).catch((error: unknown) => {
      throw faultOf(error);
    });
    this.#restoreMs.delete(batch.partition);
    this.#positions.set(batch.partition, position);
    const { lastTimeMs } = projection;
    this.#parts.status.projected(this.#view.view, batch, { position, lastTimeMs });
  }

  #onFault(fault: Fault, partition: number | null): void {
    const { log, status } = this.#parts;
    const passes = fault.reaction === 'retry' || fault.reaction === 'release';
    const facts = {
      view: this.#view.view,
      partition,
      code: fault.code,
      ...fault.facts,
      err: fault,
    };
    if (partition === null) {
      log.warn(facts, 'the group of a view has a fault');
      if (!passes) this.#parts.fail(fault);
      return;
    }
    status.failed(this.#view.view, partition, { code: fault.code, halts: !passes });
    if (passes) log.warn(facts, 'a partition is restored after a fault');
    else log.error(facts, 'a partition is halted');
    if (passes) this.#restoreLater(partition);
  }

  #restoreLater(partition: number): void {
    if (this.#closed) return;
    const waitMs = this.#restoreMs.get(partition) ?? firstRestoreMs;
    this.#restoreMs.set(partition, Math.min(waitMs * 2, maxRestoreMs));
    clearTimeout(this.#timers.get(partition));
    const restore = async () => {
      const group = await this.#group;
      if (group?.owned().includes(partition)) await group.restore(partition);
    };
    const failed = (error: unknown) => this.#parts.fail(error);
    this.#timers.set(
      partition,
      setTimeout(() => void restore().catch(failed), waitMs),
    );
  }
}

function faultOf(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('projection_failed', 'stop', { cause: error });
}
