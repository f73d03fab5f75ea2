/** Batches that projectors have begun and not ended: a name for each, and its partition. */
export type OpenBatches = ReadonlyMap<string, number>;

type Commits = ReadonlyMap<number, { readonly offset: number; readonly metadata: string }>;

/** The batches that commits of the projectors name: beside the offset stands the end of the range. */
export function openBatches(commits: Commits): OpenBatches {
  const open = new Map<string, number>();
  for (const [partition, { offset, metadata }] of commits)
    if (metadata !== '') open.set(`${partition} ${offset}-${metadata}`, partition);
  return open;
}

/** Those of the earlier batches that are open later as well. */
export function stillOpen(earlier: OpenBatches, later: OpenBatches): OpenBatches {
  return new Map([...earlier].filter(([batch]) => later.has(batch)));
}

/** Batches that were open all through a wait for their end: their projectors are halted. */
export class HaltedBatches {
  readonly #batches = new Set<string>();

  add(batches: OpenBatches): void {
    for (const batch of batches.keys()) this.#batches.add(batch);
  }

  /** Whether no batch but these is open. */
  include(open: OpenBatches): boolean {
    return [...open.keys()].every((batch) => this.#batches.has(batch));
  }
}
