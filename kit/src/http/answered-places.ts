/**
 * The part of the log that an answer tells of: `partition:offset` of `executions`, by commas. A response of ingress
 * names it to the gateway, which hands it on with later requests of the same client and lets neither pass to clients.
 */
export const answeredHeader = 'x-answered-through';

/** `true` on a response that may lack something of what its client was answered before (conventions.md 1.5). */
export const behindHeader = 'x-behind';

/** Per partition the offset of `executions` below which everything counts. */
export type LogPlaces = ReadonlyMap<number, number>;

/** Partitions of one header; more are left out. */
const placesMax = 1_024;

const place = /^(\d{1,6}):(\d{1,15})$/;

export function placesText(places: Iterable<readonly [partition: number, offset: number]>): string {
  let text = '';
  for (const [partition, offset] of places)
    text += `${text === '' ? '' : ','}${partition}:${offset}`;
  return text;
}

/** The places in a header, the highest of each partition; what is no place is left out. */
export function placesIn(text: string | readonly string[] | undefined): LogPlaces {
  const found = new Map<number, number>();
  if (typeof text !== 'string') return found;
  for (const part of text.split(',', placesMax)) {
    const [, partition, offset] = place.exec(part) ?? [];
    if (partition === undefined || offset === undefined) continue;
    raise(found, Number(partition), Number(offset));
  }
  return found;
}

function raise(places: Map<number, number>, partition: number, offset: number): void {
  if (offset > (places.get(partition) ?? -1)) places.set(partition, offset);
}

/** Whether every place is at or below the one that is known for its partition. */
export function hasReached(known: LogPlaces, places: LogPlaces): boolean {
  for (const [partition, offset] of places) if (offset > (known.get(partition) ?? 0)) return false;
  return true;
}
