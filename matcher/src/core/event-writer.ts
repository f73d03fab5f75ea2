import {
  ByteWriter,
  compileCodec,
  type ExecutionEvent,
  executionEvent,
  type RefusalCode,
} from '@pm/schemas';
import { assume } from './assumption.ts';

type Kind = ExecutionEvent['kind'];

const codec = compileCodec(executionEvent);
const indexes = new Map(executionEvent.branches.map(({ name }, index) => [name, index]));

/** What an event is on the wire: all branches in order, a zero byte for each that is not set, and a 2 before the one that is. */
export interface Layout {
  readonly before: number;
  readonly behind: number;
}

/**
 * The layout of an event that is written field by field (write-events.ts). `fields` repeats the names of the schema in
 * order, so that whoever changes the schema is told which function to change.
 */
export function layoutOf(kind: Kind, fields: string): Layout {
  const index = indexes.get(kind) as number;
  const branch = executionEvent.branches[index] as (typeof executionEvent.branches)[number];
  const names = branch.fields.map(({ name }) => name).join(' ');
  assume(names === fields, `${kind} is written with the fields of its schema: ${names}`);
  return { before: index, behind: executionEvent.branches.length - index - 1 };
}

/** The numbers on the wire of the symbols of a field. */
export function numbersOf(kind: Kind, field: string): ReadonlyMap<string, number> {
  const branch = executionEvent.branches.find(({ name }) => name === kind);
  const type = branch?.fields.find(({ name }) => name === field)?.type;
  assume(typeof type === 'object' && 'symbols' in type, `${kind} ${field} has symbols`);
  return new Map(type.symbols.map((symbol, index) => [symbol, index]));
}

/**
 * The events of one record, straight as the bytes they have in an execution: no event is an object on the way, and the
 * memory is used again for the next record.
 *
 *   |  0 ... 0 2 fields 0 ... 0  |  0 ... 0 2 fields 0 ... 0  | ...
 */
export class EventWriter {
  /** How many events there are. */
  length = 0;
  /** How many of them are fills. */
  fills = 0;
  /** Codes of those that refuse something; empty for most records. */
  readonly refusals: RefusalCode[] = [];
  private readonly to = new ByteWriter(1 << 16);
  private readonly later: ExecutionEvent[] = [];

  /** The next record begins; what was given out before is no longer valid. */
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

  /** Adds an event behind those that are added before `endLater`. */
  pushLater(event: ExecutionEvent): void {
    this.later.push(event);
  }

  endLater(): void {
    if (this.later.length === 0) return;
    for (const event of this.later) this.push(event);
    this.later.length = 0;
  }

  /** Begins an event; its fields are written to what it gives, in order, and `end` follows. */
  begin({ before }: Layout): ByteWriter {
    const { to } = this;
    to.reserve(before + 1);
    const { buffer } = to;
    let at = to.position;
    for (const end = at + before; at < end; at += 1) buffer[at] = 0;
    buffer[at] = 2;
    to.position = at + 1;
    return to;
  }

  end({ behind }: Layout): void {
    const { to } = this;
    to.reserve(behind);
    const { buffer } = to;
    let at = to.position;
    for (const end = at + behind; at < end; at += 1) buffer[at] = 0;
    to.position = at;
    this.length += 1;
  }

  /** A view of the bytes so far, valid until `clear`. */
  bytes(): Buffer {
    return this.to.buffer.subarray(0, this.to.position);
  }

  /** The events as values, with bytes of their own. */
  values(): ExecutionEvent[] {
    const bytes = Buffer.from(this.bytes());
    return eventsIn(bytes, this.length);
  }
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
