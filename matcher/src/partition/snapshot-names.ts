/** Snapshots kept of each partition, in the folder and in the store. */
export const snapshotsKept = 3;

const finishedName = /(?:^|\/)(\d{1,16})\.snapshot$/;

/** The object of a snapshot. */
export function snapshotName(partition: number, nextOffset: number): string {
  return `p${partition}/${nextOffset}.snapshot`;
}

/** Offsets in the names of snapshots, the newest first; other names are left out. */
export function offsetsOf(names: readonly string[]): readonly number[] {
  const offsets = names.flatMap((name) => {
    const [, digits] = finishedName.exec(name) ?? [];
    return digits === undefined ? [] : [Number(digits)];
  });
  return offsets.sort((a, b) => b - a);
}
