/** The last record of partition 0 of a copy: the copy is complete. */
export interface CopyMarker {
  /** Records of each partition. */
  readonly ends: readonly (readonly [partition: number, end: number])[];
  /** Commits of the readers of the topic, with the text beside each. */
  readonly commits: readonly {
    readonly groupId: string;
    readonly commits: readonly (readonly [
      partition: number,
      position: { readonly offset: number; readonly metadata: string },
    ])[];
  }[];
}

export const markerKey = Buffer.from('complete', 'utf8');

/** The marker, or null for any other record: outputs have no key. */
export function parseMarker(
  record: { readonly key: Buffer | null; readonly value: Buffer | null } | undefined,
): CopyMarker | null {
  if (record?.key?.equals(markerKey) !== true || record.value === null) return null;
  return JSON.parse(record.value.toString('utf8')) as CopyMarker;
}

/** The topic that a copy of `executions` is, beside it. */
export function copyNameOf(executionsTopic: string): string {
  return `${executionsTopic}-repaired`;
}
