import { Fault } from '@pm/kit/fault';
import type { LogClient, PartitionGroup, RecordBatch } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { ViewProgress } from './progress.io.ts';
import type { PartitionProjection, ViewDefinition } from './view-definition.io.ts';

/** The process that runs a view. */
export interface ViewHost {
  readonly client: LogClient;
  readonly progress: ViewProgress;
  readonly log: Log;
  /** Name of the process as the other members of its groups see it; empty for none. */
  readonly instance: string;
  /** Ends the process: faults of the whole group. */
  fail(error: unknown): void;
}

/**
 * Pause after a fetch with records, milliseconds: a fetch costs as much as many records. Books and free money are at
 * most so much older for it.
 */
const restMs = 25;

/**
 * Waits before a partition is restored after a fault, milliseconds; doubles up to the second. Most of these faults are
 * an engine that is away, which may be back any moment.
 */
const firstRestoreMs = 500;
const maxRestoreMs = 3_000;

/**
 * A view that runs until `close`. A partition with a fault that passes is restored, with any other it is halted; the
 * other partitions continue.
 */
export class RunningView {
  readonly #host: ViewHost;
  readonly #view: ViewDefinition;
  readonly #projections = new Map<number, PartitionProjection>();
  /** Next offset that each projection has not stored. */
  readonly #positions = new Map<number, number>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #restoreMs = new Map<number, number>();
  #group: Promise<PartitionGroup> | null = null;
  #closed = false;

  private constructor(host: ViewHost, view: ViewDefinition) {
    this.#host = host;
    this.#view = view;
  }

  /** Joins the group of the view. Rejects with the faults of `LogClient.group`. */
  static async start(host: ViewHost, view: ViewDefinition): Promise<RunningView> {
    const running = new RunningView(host, view);
    await running.#join();
    return running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await (await this.#group)?.close();
  }

  /**
   * Restores every partition of this process whose stored position (`storedOf`) is below the one it has reached: stored
   * data was lost, and a partition without new records would not notice.
   */
  async restoreLost(storedOf: (partition: number) => Promise<number>): Promise<void> {
    for (const [partition, position] of this.#positions) {
      if ((await storedOf(partition)) >= position) continue;
      const facts = { view: this.#view.view, partition, position };
      this.#host.log.warn(facts, 'stored data of a partition is lost: it is restored');
      this.#positions.delete(partition);
      this.#restoreLater(partition);
    }
  }

  async #join(): Promise<void> {
    const { client, progress, instance } = this.#host;
    const { groupId, topic, view } = this.#view;
    progress.waitFor(`joining:${view}`);
    this.#group = client.group({
      groupId,
      topic,
      restMs,
      shares: true,
      dense: true,
      ...(instance === '' ? {} : { instance }),
      onAssigned: (partition) => this.#assign(partition),
      onRevoked: (partition) => this.#revoke(partition),
      onBatch: (batch) => this.#project(batch),
      onFault: (fault, partition) => this.#onFault(fault, partition),
    });
    await this.#group;
    progress.done(`joining:${view}`);
  }

  async #assign(partition: number): Promise<number> {
    const { progress } = this.#host;
    progress.assigning(this.#view.view, partition);
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
      stored: (position) => progress.stored(this.#view.view, partition, position),
    });
    const { from, storedTo = from } = projection;
    this.#projections.set(partition, projection);
    this.#positions.set(partition, storedTo);
    progress.running(this.#view.view, partition, { position: storedTo, end: from });
    return from;
  }

  async #revoke(partition: number): Promise<void> {
    clearTimeout(this.#timers.get(partition));
    await this.#end(partition);
    this.#host.progress.revoked(this.#view.view, partition);
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
    this.#host.progress.received(this.#view.view, batch);
    const position = await projection.project(batch).catch((error: unknown) => {
      throw faultOf(error);
    });
    this.#restoreMs.delete(batch.partition);
    this.#positions.set(batch.partition, position);
    const { lastTimeMs } = projection;
    this.#host.progress.projected(this.#view.view, batch, { position, lastTimeMs });
  }

  #onFault(fault: Fault, partition: number | null): void {
    const { log, progress } = this.#host;
    const { view } = this.#view;
    const passes = fault.reaction === 'retry' || fault.reaction === 'release';
    const facts = { view, partition, code: fault.code, ...fault.facts, err: fault };
    if (partition === null) {
      log.warn(facts, 'the group of a view has a fault');
      if (!passes) this.#host.fail(fault);
      return;
    }
    progress.failed(view, partition, { code: fault.code, halts: !passes });
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
    const failed = (error: unknown) => this.#host.fail(error);
    this.#timers.set(
      partition,
      setTimeout(() => void restore().catch(failed), waitMs),
    );
  }
}

function faultOf(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('projection_failed', 'stop', { cause: error });
}
