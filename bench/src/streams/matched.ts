/** A message of a stream, when it was received: `offset` is the input offset of the record it stands for. */
export interface Received {
  readonly partition: number;
  readonly offset: number;
  readonly atMs: number;
}

/** A record of `executions`: when the matcher handed it to the log. */
export interface Appended {
  readonly partition: number;
  readonly inOffset: number;
  readonly atMs: number;
}

export interface Delivered {
  /** For each record with messages: until the last of them was received, milliseconds. */
  readonly latenciesMs: readonly number[];
  readonly messages: number;
  /** Messages of records before or after the phase. */
  readonly outside: number;
}

const placeOf = (partition: number, offset: number): string => `${partition}|${offset}`;

/** Joins messages with their records; both clocks are that of the machine, Unix milliseconds. */
export function deliveredOf(
  received: readonly Received[],
  appended: readonly Appended[],
): Delivered {
  const appendedAt = new Map(
    appended.map(({ partition, inOffset, atMs }) => [placeOf(partition, inOffset), atMs]),
  );
  const lastAt = new Map<string, number>();
  let outside = 0;
  for (const { partition, offset, atMs } of received) {
    const place = placeOf(partition, offset);
    if (appendedAt.has(place)) lastAt.set(place, Math.max(lastAt.get(place) ?? atMs, atMs));
    else outside += 1;
  }
  const latenciesMs = [...lastAt].map(([place, atMs]) => atMs - (appendedAt.get(place) ?? atMs));
  return { latenciesMs, messages: received.length - outside, outside };
}
