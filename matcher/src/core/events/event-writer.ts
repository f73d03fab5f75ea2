import { ByteWriter } from '@pm/schemas/avro/bytes';
import { compileCodec } from '@pm/schemas/avro/codec';
import { type ExecutionEvent, executionEvent } from '@pm/schemas/log/executions';
import type { RefusalCode } from '@pm/schemas/refusals';
import { assume } from '../assumption.ts';

type Kind = ExecutionEvent['kind'];
type Branch = (typeof executionEvent.branches)[number];

const codec = compileCodec(executionEvent);
const indexes: ReadonlyMap<string, number> = new Map(
  executionEvent.branches.map(({ name }, index) => [name, index]),
);

/**
 * An event on the wire: all branches in order, a zero byte for each that is not set, and a 2 before the one that is.
 */
export interface Layout {
  readonly before: number;
  readonly after: number;
}

/**
 * The layout of an event that is written field by field (write-events.ts). `fields` repeat the names of the schema in
 * order, so that a change of the schema fails at the function that must follow it.
 */
export function layoutOf(kind: Kind, ...fields: readonly string[]): Layout {
  const index = indexes.get(kind) as number;
  const branch = executionEvent.branches[index] as Branch;
  const names = branch.fields.map(({ name }) => name).join(' ');
  assume(names === fields.join(' '), `${kind} is written with the fields of its schema: ${names}`);
  assume(mostBytes(branch) <= eventBytesMax, `${kind} has no more than ${eventBytesMax} bytes`);
  return { before: index, after: executionEvent.branches.length - index - 1 };
}

/** Bytes that are free when an event begins. */
const eventBytesMax = 512;
/** Zeros are written eight bytes at a time, beyond the end of an event. */
const zerosMax = 24;
const varintBytesMax = 10;

function mostBytes({ fields }: Branch): number {
  assume(executionEvent.branches.length <= zerosMax, 'all branches are written at once');
  let bytes = 2 * zerosMax;
  for (const { type } of fields) {
    const isFixed = typeof type === 'object' && 'size' in type;
    bytes += isFixed ? type.size : varintBytesMax;
  }
  return bytes;
}

/** The symbols of a field, in the order of their numbers on the wire. */
export function symbolsOf(kind: Kind, field: string): readonly string[] {
  const branch = executionEvent.branches.find(({ name }) => name === kind);
  const type = branch?.fields.find(({ name }) => name === field)?.type;
  assume(typeof type === 'object' && 'symbols' in type, `${kind} ${field} has symbols`);
  return type.symbols;
}

/**
 * The events of one record as the bytes of its execution: no event is an object, and the memory is used again for the
 * next record.
 *
 *   |  0 ... 0 2 fields 0 ... 0  |  0 ... 0 2 fields 0 ... 0  | ...
 */
export class EventWriter {
  /** How many events there are. */
  length = 0;
  /** How many of them are fills. */
  fills = 0;
  /** Codes of the events that refuse something; empty for most records. */
  readonly refusals: RefusalCode[] = [];
  /** Where fields are written between `begin` and `end`. */
  readonly to = new ByteWriter(1 << 16);
  private readonly later: ExecutionEvent[] = [];

  /** Begins the next record; bytes that were returned before are no longer valid. */
  clear(): void {
    this.length = 0;
    this.fills = 0;
    this.to.position = 0;
    if (this.refusals.length > 0) this.refusals.length = 0;
  }

  /** Adds an event of any kind. */
  push(event: ExecutionEvent): void {
    codec.write(event, this.to);
    this.length += 1;
    if (event.kind === 'Fill') this.fills += 1;
    else if (refusing.has(event.kind)) this.refusals.push((event as { code: RefusalCode }).code);
  }

  /** Adds an event after those that are added before `endLater`. */
  pushLater(event: ExecutionEvent): void {
    this.later.push(event);
  }

  endLater(): void {
    if (this.later.length === 0) return;
    for (const event of this.later) this.push(event);
    this.later.length = 0;
  }

  /**
   * Begins an event: its fields are written to `to.buffer` from the place that is returned on, in order, then `end` is
   * called with the place behind the last one. There is room for all of them.
   */
  begin({ before }: Layout): number {
    const { to } = this;
    to.reserve(eventBytesMax);
    putZeros(to.view, to.position);
    const at = to.position + before;
    to.buffer[at] = 2;
    return at + 1;
  }

  end({ after }: Layout, at: number): void {
    putZeros(this.to.view, at);
    this.to.position = at + after;
    this.length += 1;
  }

  /** A view of the bytes so far, valid until `clear`. */
  bytes(): Buffer {
    return this.to.buffer.subarray(0, this.to.position);
  }

  /** The events as values with their own bytes. */
  values(): ExecutionEvent[] {
    const bytes = Buffer.from(this.bytes());
    return eventsIn(bytes, this.length);
  }
}

/** `zerosMax` bytes; those beyond the branches are written over by what follows. */
function putZeros(view: DataView, at: number): void {
  view.setFloat64(at, 0);
  view.setFloat64(at + 8, 0);
  view.setFloat64(at + 16, 0);
}

const refusing: ReadonlySet<Kind> = new Set<Kind>([
  'OrderRefused',
  'CancelRefused',
  'CommandRefused',
]);

/** The bytes are an array without its count and its end. */
function eventsIn(bytes: Buffer, count: number): ExecutionEvent[] {
  const whole = new ByteWriter(bytes.length + 12);
  if (count > 0) whole.writeLong(count);
  whole.writeBytes(bytes);
  whole.writeLong(0);
  return [...arrayCodec.decode(Buffer.from(whole.buffer.subarray(0, whole.position)))];
}

const arrayCodec = compileCodec({ type: 'array', items: executionEvent } as const);
