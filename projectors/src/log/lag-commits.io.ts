import type { ViewGroup } from './running-view.io.ts';

/** How often a position is committed for those who look at lag; the truth is the mark in the ledger. */
const lagCommitMs = 5_000;

/** Commits a position now and then. */
export class LagCommits {
  readonly #group: ViewGroup;
  readonly #partition: number;
  #committedMs = Number.NEGATIVE_INFINITY;

  constructor(group: ViewGroup, partition: number) {
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
