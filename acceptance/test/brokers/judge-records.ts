/**
 * Outcome of one record as its writer received it; `value` is unique, and `number` rises with each record of a writer.
 */
export interface WrittenRecord {
  readonly writer: string;
  readonly partition: number;
  readonly number: number;
  readonly value: string;
  readonly outcome: 'acknowledged' | 'certainly not written' | 'unknown';
  /** Offset of an acknowledged record; null when the client does not report it. */
  readonly offset: number | null;
}

/** Values of each partition by offset. */
export type Log = ReadonlyMap<number, readonly string[]>;

/** Differences between what writers were told and the log, one line each; none when all of it holds. */
export function judgeRecords(records: readonly WrittenRecord[], log: Log): readonly string[] {
  const places = placesOf(log);
  const wrong: string[] = [];
  const lastOf = new Map<string, { offset: number; value: string }>();
  for (const record of [...records].sort((one, other) => one.number - other.number)) {
    const { writer, partition, value } = record;
    const found = places.get(`${partition} ${value}`) ?? [];
    places.delete(`${partition} ${value}`);
    wrong.push(...judgePlaces(record, found));
    const [offset] = found;
    if (offset === undefined) continue;
    const stream = `${writer} ${partition}`;
    const last = lastOf.get(stream);
    if (last !== undefined && offset < last.offset)
      wrong.push(`${value} is before ${last.value}, which was sent earlier`);
    lastOf.set(stream, { offset, value });
  }
  return [...wrong, ...[...places.keys()].map((place) => `${place} was never sent`)];
}

/** Offsets of each value of each partition. */
function placesOf(log: Log): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [partition, values] of log)
    for (const [offset, value] of values.entries()) {
      const key = `${partition} ${value}`;
      places.set(key, [...(places.get(key) ?? []), offset]);
    }
  return places;
}

function judgePlaces(
  { value, outcome, offset }: WrittenRecord,
  found: readonly number[],
): readonly string[] {
  const wrong: string[] = [];
  if (found.length > 1) wrong.push(`${value} is ${found.length} times on the log`);
  if (outcome === 'acknowledged' && found.length === 0) wrong.push(`${value} was lost`);
  if (outcome === 'certainly not written' && found.length > 0)
    wrong.push(`${value} is on the log, and was reported as not written`);
  if (offset !== null && found.length === 1 && found[0] !== offset)
    wrong.push(`${value} is at ${found[0]}, and was reported at ${offset}`);
  return wrong;
}
