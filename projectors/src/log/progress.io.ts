import type { Readiness } from '@pm/kit/health';
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
  /** Clock of the partition at the position, Unix milliseconds; 0 when not known yet. */
  lastTimeMs: number;
  fault: string | null;
}

/** Progress of each view of this process, for /status, /ready and the metrics. */
export class ViewProgress {
  readonly #metrics: ProjectorMetrics;
  readonly #views = new Map<string, Map<number, PartitionProgress>>();
  readonly #waiting = new Set<string>();

  constructor(metrics: ProjectorMetrics) {
    this.#metrics = metrics;
  }

  /** The process is not ready until `done` is called for the same name. */
  waitFor(reason: string): void {
    this.#waiting.add(reason);
  }

  done(reason: string): void {
    this.#waiting.delete(reason);
  }

  assigning(view: string, partition: number): void {
    this.#of(view, partition).phase = 'restoring';
  }

  running(view: string, partition: number, position: number): void {
    const progress = this.#of(view, partition);
    progress.phase = 'running';
    progress.fault = null;
    progress.position = position;
    progress.end = Math.max(progress.end, position);
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

  projected(
    view: string,
    batch: RecordBatch,
    { position, lastTimeMs }: { readonly position: number; readonly lastTimeMs: number },
  ): void {
    const progress = this.#of(view, batch.partition);
    progress.end = Math.max(batch.highWatermark, position);
    progress.lastTimeMs = lastTimeMs;
    this.#metrics.records.add(batch.records.length, { view });
    this.#metrics.lastTimeMs.set(lastTimeMs, { view, partition: batch.partition });
    this.stored(view, batch.partition, position);
  }

  stored(view: string, partition: number, position: number): void {
    const progress = this.#of(view, partition);
    progress.position = position;
    progress.end = Math.max(progress.end, position);
    this.#metrics.lagRecords.set(progress.end - position, { view, partition });
  }

  ready(): Readiness {
    const reasons = [...this.#waiting];
    for (const [view, partitions] of this.#views)
      for (const [partition, { phase }] of partitions)
        if (phase !== 'running') reasons.push(`${phase}:${view}:${partition}`);
    return { ready: reasons.length === 0, reasons };
  }

  status(): object {
    const views: Record<string, object[]> = {};
    for (const [view, partitions] of this.#views)
      views[view] = [...partitions]
        .sort(([a], [b]) => a - b)
        .map(([partition, one]) => ({ partition, ...one, lagRecords: one.end - one.position }));
    return { ...this.ready(), views };
  }

  #of(view: string, partition: number): PartitionProgress {
    const partitions = this.#views.get(view) ?? new Map<number, PartitionProgress>();
    this.#views.set(view, partitions);
    const known = partitions.get(partition);
    if (known !== undefined) return known;
    const fresh = { phase: 'restoring' as const, position: 0, end: 0, lastTimeMs: 0, fault: null };
    partitions.set(partition, fresh);
    return fresh;
  }
}
