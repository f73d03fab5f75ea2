import type { PartitionGroup, RecordBatch } from '@pm/kit/kafka';

/** A view as a consumer group, and how it takes over one partition. */
export interface ViewDefinition {
  readonly view: string;
  readonly groupId: string;
  /** Name of the topic on the broker. */
  readonly topic: string;
  /** Restores the stored state of a partition. */
  assign(partition: number, group: ViewGroup): Promise<PartitionProjection>;
}

/** One partition of a view, from its assignment to its revocation. */
export interface PartitionProjection {
  /** First offset to read. */
  readonly from: number;
  /** Next offset whose effects are not stored yet, where that is below `from`. */
  readonly storedTo?: number;
  /** Clock of the partition at the last record, Unix milliseconds; 0 before the first. */
  readonly lastTimeMs: number;
  /**
   * Resolves to the next offset whose effects are not stored yet: the end of the batch, or less while writes are
   * pending.
   */
  project(batch: RecordBatch): Promise<number>;
  close(): Promise<void>;
}

/** The consumer group as a projection uses it. */
export interface ViewGroup extends Pick<PartitionGroup, 'commit' | 'committed'> {
  /** Reports a fault outside of `project`. */
  fail(error: unknown): void;
  /** Reports outside of `project` that everything below `position` is stored. */
  stored(position: number): void;
}

/**
 * How often a position is committed, milliseconds: only readers of lag use it, the projection continues from its own
 * mark.
 */
const lagCommitMs = 5_000;

/** Commits the position of a partition from time to time. */
export class LagCommits {
  readonly #group: Pick<ViewGroup, 'commit'>;
  readonly #partition: number;
  #committedMs = Number.NEGATIVE_INFINITY;

  constructor(group: Pick<ViewGroup, 'commit'>, partition: number) {
    this.#group = group;
    this.#partition = partition;
  }

  async at(offset: number): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#committedMs < lagCommitMs) return;
    this.#committedMs = nowMs;
    await this.#group.commit(this.#partition, offset, '');
  }
}
