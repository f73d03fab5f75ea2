import { Fault } from '@pm/kit/fault';

/** How far a checkpoint has a partition of `executions`, and what the log must have right before. */
export interface CheckpointPlace {
  readonly partition: number;
  /** The first offset that it does not have. */
  readonly offset: number;
  /** Input offset after that of the record before. */
  readonly nextInOffset: number;
  /** Chain of that record, hex; null at the beginning of the log. */
  readonly chain: string | null;
}

const version = 1;
const newline = 0x0a;

/** The first line of a checkpoint, which says what log it is of. */
export function headOf(places: readonly CheckpointPlace[]): Buffer {
  return Buffer.from(`${JSON.stringify({ version, places })}\n`);
}

/** The places of a checkpoint and the bytes after them. Throws `checkpoint_unreadable` (skip). */
export function splitCheckpoint(bytes: Buffer): {
  readonly places: readonly CheckpointPlace[];
  readonly body: Buffer;
} {
  const end = bytes.indexOf(newline);
  const head = parse(bytes.toString('utf8', 0, Math.max(0, end)));
  const places = Reflect.get(Object(head), 'places');
  if (end === -1 || Reflect.get(Object(head), 'version') !== version || !Array.isArray(places))
    throw unreadable('its first line');
  return { places: places.map(placeIn), body: bytes.subarray(end + 1) };
}

function placeIn(value: unknown): CheckpointPlace {
  const place = Object(value) as Record<keyof CheckpointPlace, unknown>;
  const { partition, offset, nextInOffset, chain } = place;
  const isSound =
    Number.isSafeInteger(partition) &&
    Number.isSafeInteger(offset) &&
    Number.isSafeInteger(nextInOffset) &&
    (chain === null || /^[0-9a-f]{64}$/.test(String(chain)));
  if (!isSound) throw unreadable('a place in it');
  return place as CheckpointPlace;
}

/** The JSON value of a text. Throws `checkpoint_unreadable` (skip). */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable('a line of it');
  }
}

/** The `Fault` `checkpoint_unreadable` (skip). */
export function unreadable(what: string): Fault {
  return new Fault('checkpoint_unreadable', 'skip', { facts: { what } });
}
