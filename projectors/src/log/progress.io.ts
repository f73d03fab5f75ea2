import type { Health, Readiness, Serving } from '@pm/kit/health';
import type { RecordBatch } from '@pm/kit/kafka';
import type { ProjectorMetrics } from '../metrics.ts';

/** `restoring`: reading the stored state; `running`; `halted`: a fault that only an operator can clear. */
export type PartitionPhase = 'restoring' | 'running' | 'halted';

interface PartitionProgress {
  phase: PartitionPhase;
  /** Next offset whose effects are not stored yet. */
  position: number;
  /** End of the partition when the last records came. */
  end: number;
  /** Clock of the partition at the newest record that was read, Unix milliseconds; 0 when not known yet. */
  lastTimeMs: number;
  fault: string | null;
  /** Clock of the partition at the position, Unix milliseconds; 0 when not known yet. */
  storedTimeMs: number;
  /** Ends of batches that are read and not stored yet, oldest first, with the clock there. */
  readonly marks: { readonly offset: number; readonly timeMs: number }[];
}

/** Batches whose clocks are remembered until they are stored; after them a lag is as old as the last one. */
const marksMax = 1_024;

const phases: readonly PartitionPhase[] = ['restoring', 'running', 'halted'];

/** How late a view is in one partition. */
export interface ViewLag {
  readonly view: string;
  readonly partition: number;
  readonly lagMs: number;
}

/** Progress of each view of this process, for /status, /ready and the metrics. */
export class ViewProgress implements Health {
  readonly #metrics: ProjectorMetrics;
  readonly #views = new Map<string, Map<number, PartitionProgress>>();
  readonly #waiting = new Set<string>();
  readonly #notLive: () => readonly string[];

  /** `notLive`: further reasons why the process is not ready, of readers of the log. */
  constructor(metrics: ProjectorMetrics, notLive: () => readonly string[] = () => []) {
    this.#metrics = metrics;
    this.#notLive = notLive;
  }

  /** The process is not ready until `done` is called for the same name. */
  waitFor(reason: string): void {
    this.#waiting.add(reason);
  }

  done(reason: string): void {
    this.#waiting.delete(reason);
  }

  assigning(view: string, partition: number): void {
    const progress = this.#of(view, partition);
    progress.phase = 'restoring';
    // Batches that were read and not stored will be read again.
    progress.marks.length = 0;
  }

  /** `position`: where the stored effects end; `end`: an offset that the log has at least. */
  running(
    view: string,
    partition: number,
    { position, end }: { readonly position: number; readonly end: number },
  ): void {
    const progress = this.#of(view, partition);
    progress.phase = 'running';
    progress.fault = null;
    progress.position = position;
    progress.end = Math.max(progress.end, end);
  }

  revoked(view: string, partition: number): void {
    this.#views.get(view)?.delete(partition);
  }

  failed(view: string, partition: number, fault: { code: string; halts: boolean }): void {
    const progress = this.#of(view, partition);
    progress.phase = fault.halts ? 'halted' : 'restoring';
    progress.fault = fault.code;
    this.#metrics.faults.add(1, { view, code: fault.code });
  }

  /** Records are being projected: a projection that never ends is late, too. */
  received(view: string, { partition, highWatermark }: RecordBatch): void {
    const progress = this.#of(view, partition);
    progress.end = Math.max(progress.end, highWatermark);
    this.#metrics.lagRecords.set(progress.end - progress.position, { view, partition });
  }

  projected(
    view: string,
    batch: RecordBatch,
    { position, lastTimeMs }: { readonly position: number; readonly lastTimeMs: number },
  ): void {
    const progress = this.#of(view, batch.partition);
    progress.end = Math.max(batch.highWatermark, position);
    progress.lastTimeMs = lastTimeMs;
    const offset = (batch.records.at(-1)?.offset ?? position - 1) + 1;
    if (progress.marks.length < marksMax) progress.marks.push({ offset, timeMs: lastTimeMs });
    this.#metrics.records.add(batch.records.length, { view });
    this.#metrics.lastTimeMs.set(lastTimeMs, { view, partition: batch.partition });
    this.stored(view, batch.partition, position);
  }

  stored(view: string, partition: number, position: number): void {
    const progress = this.#of(view, partition);
    progress.position = position;
    progress.end = Math.max(progress.end, position);
    while ((progress.marks[0]?.offset ?? Number.POSITIVE_INFINITY) <= position)
      progress.storedTimeMs = progress.marks.shift()?.timeMs ?? 0;
    this.#metrics.lagRecords.set(progress.end - position, { view, partition });
  }

  /**
   * Age of the newest stored record of each partition that has a record, milliseconds; 0 when no known record waits to
   * be stored.
   */
  lags(nowMs: number): readonly ViewLag[] {
    const lags: ViewLag[] = [];
    for (const [view, partitions] of this.#views)
      for (const [partition, { end, position, storedTimeMs, marks }] of partitions) {
        const timeMs = storedTimeMs === 0 ? (marks[0]?.timeMs ?? 0) : storedTimeMs;
        if (timeMs === 0) continue;
        const lagMs = end === position ? 0 : Math.max(0, nowMs - timeMs);
        lags.push({ view, partition, lagMs });
      }
    return lags;
  }

  /** Partitions of each view in each phase, also where there are none. */
  phases(): readonly { view: string; phase: PartitionPhase; count: number }[] {
    return [...this.#views].flatMap(([view, partitions]) =>
      phases.map((phase) => ({
        view,
        phase,
        count: [...partitions.values()].filter((one) => one.phase === phase).length,
      })),
    );
  }

  ready(): Readiness {
    const reasons = [...this.#waiting, ...this.#notLive()];
    for (const [view, partitions] of this.#views)
      for (const [partition, { phase }] of partitions)
        if (phase !== 'running') reasons.push(`${phase}:${view}:${partition}`);
    return { ready: reasons.length === 0, reasons };
  }

  /** Serves while a view goes on in a partition, or all partitions are those of others. */
  serving(): Serving {
    const { reasons } = this.ready();
    const all = [...this.#views.values()].flatMap((partitions) => [...partitions.values()]);
    const isUsed = all.length === 0 || all.some(({ phase }) => phase === 'running');
    return { serving: this.#waiting.size === 0 && isUsed, reasons };
  }

  status(): object {
    const views: Record<string, object[]> = {};
    for (const [view, partitions] of this.#views)
      views[view] = [...partitions]
        .sort(([a], [b]) => a - b)
        .map(([partition, { marks: _, ...one }]) => ({
          partition,
          ...one,
          lagRecords: one.end - one.position,
        }));
    return { ...this.ready(), views };
  }

  #of(view: string, partition: number): PartitionProgress {
    const partitions = this.#views.get(view) ?? new Map<number, PartitionProgress>();
    this.#views.set(view, partitions);
    const known = partitions.get(partition);
    if (known !== undefined) return known;
    const fresh: PartitionProgress = {
      phase: 'restoring',
      position: 0,
      end: 0,
      lastTimeMs: 0,
      storedTimeMs: 0,
      fault: null,
      marks: [],
    };
    partitions.set(partition, fresh);
    return fresh;
  }
}
