import type { Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import type { Command } from '@pm/schemas/log/orders';
import type { EventsPlace, PlacedEvent } from '../orders/order-result.ts';

/** The result of a command for the log. */
export type CommandResult =
  | {
      readonly kind: 'executed';
      readonly place: EventsPlace;
      readonly events: readonly PlacedEvent[];
      /** From the queue to being durable, and from there to the result, milliseconds. */
      readonly times?: { readonly logMs: number; readonly matchMs: number };
    }
  /** The matcher rejected the whole record: it changed nothing. */
  | { readonly kind: 'rejected' }
  /** Certainly not on the log. */
  | {
      readonly kind: 'unsent';
      readonly code: 'overloaded' | 'internal_error' | 'partition_not_ready';
    }
  /** No result in time; the command may be on the log. */
  | { readonly kind: 'pending' };

/** The result of a command that the log has taken. */
export type FinalResult =
  | Extract<CommandResult, { kind: 'executed' | 'rejected' }>
  /** The matcher rejected the record because the key has sent a later one before: it changed nothing. */
  | { readonly kind: 'outrun' };

type Settle = (result: FinalResult) => void;

/** A command that waits, and its place in the envelope that carries it. */
export interface WaitingCommand {
  readonly partition: number;
  readonly sequence: number;
  /** Its index in the envelope. */
  readonly index: number;
  readonly command: Command;
}

type ReadRecord = Pick<Execution, 'sequence' | 'inOffset' | 'events'>;

interface WaitingEnvelope {
  readonly partition: number;
  readonly commands: Map<number, { readonly command: Command; readonly settle: Settle }>;
  /** Offset of the record of the envelope; null until the record is durable. */
  offset: number | null;
  /** Results under its sequence that were read before its offset was known. */
  readonly early: ReadRecord[];
}

/** Records under one sequence that are kept until the offset is known; each process that shares the run sends one. */
const earlyMax = 16;

/**
 * Waiting commands of one sign-off key. Several processes may use one key, and even one run of sequences, so a sequence
 * alone proves nothing: a result counts when it is that of the own record, by partition and offset. One that names the
 * order or request of the command counts whichever record it is in.
 */
export class ResultWaiters {
  readonly #bySequence = new Map<number, WaitingEnvelope>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add({ partition, sequence, index, command }: WaitingCommand, settle: Settle): void {
    const known = this.#bySequence.get(sequence);
    const envelope = known ?? { partition, commands: new Map(), offset: null, early: [] };
    envelope.commands.set(index, { command, settle });
    this.#bySequence.set(sequence, envelope);
    this.#count += 1;
  }

  /** Stops waiting, when the result has not come in time. */
  remove({ sequence, index }: Pick<WaitingCommand, 'sequence' | 'index'>): void {
    const envelope = this.#bySequence.get(sequence);
    if (envelope?.commands.delete(index) !== true) return;
    this.#count -= 1;
    if (envelope.commands.size === 0) this.#bySequence.delete(sequence);
  }

  /** The envelope of this sequence is durable there. */
  locate(sequence: number, offset: number): void {
    const envelope = this.#bySequence.get(sequence);
    if (envelope === undefined || envelope.offset !== null) return;
    envelope.offset = offset;
    const own = envelope.early.find(({ inOffset }) => inOffset === offset);
    if (own !== undefined) this.#conclude(envelope, own);
  }

  /** Hands the results of an envelope to those who wait for its commands. Whether it came too late. */
  settle(partition: number, record: ReadRecord): boolean {
    const envelope = this.#bySequence.get(record.sequence);
    if (envelope?.partition !== partition) return false;
    if (envelope.offset === record.inOffset) this.#conclude(envelope, record);
    else if (envelope.offset === null) this.#keepEarly(envelope, record);
    return rejectionOf(record) === 'OLD_SEQUENCE';
  }

  #keepEarly(envelope: WaitingEnvelope, record: ReadRecord): void {
    if (envelope.early.length < earlyMax) envelope.early.push(record);
    const byCommand = eventsByCommand(record.events);
    for (const [index, { command }] of envelope.commands) {
      const events = byCommand.get(index) ?? [];
      if (events.some(({ event }) => isResultOf(event, command)))
        this.#settleOne(envelope, index, { record, events });
    }
  }

  #conclude(envelope: WaitingEnvelope, record: ReadRecord): void {
    const rejection = rejectionOf(record);
    const byCommand = eventsByCommand(record.events);
    for (const [index, { settle }] of envelope.commands) {
      if (rejection === null)
        this.#settleOne(envelope, index, { record, events: byCommand.get(index) ?? [] });
      else settle({ kind: rejection === 'OLD_SEQUENCE' ? 'outrun' : 'rejected' });
    }
    this.#count -= envelope.commands.size;
    envelope.commands.clear();
    this.#bySequence.delete(record.sequence);
  }

  #settleOne(
    envelope: WaitingEnvelope,
    index: number,
    { record, events }: { readonly record: ReadRecord; readonly events: readonly PlacedEvent[] },
  ): void {
    const { sequence, inOffset } = record;
    const place = { partition: envelope.partition, inOffset };
    envelope.commands.get(index)?.settle({ kind: 'executed', place, events });
    this.remove({ sequence, index });
  }
}

/** Why the matcher rejected the whole record; null for one that it took. */
function rejectionOf({ events }: ReadRecord) {
  return events.find((event) => event.kind === 'RecordRejected')?.reason ?? null;
}

const resultKinds: ReadonlySet<ExecutionEvent['kind']> = new Set([
  'OrderPlaced',
  'OrderDelayed',
  'OrderRefused',
  'OrderRepeated',
]);

/** Whether the event is a result of the order or request of the command. */
function isResultOf(event: ExecutionEvent, command: Command): boolean {
  if (command.kind === 'PlaceOrder')
    return (
      resultKinds.has(event.kind) && 'orderId' in event && event.orderId.equals(command.orderId)
    );
  if (!('requestId' in command) || !('requestId' in event)) return false;
  return event.requestId?.equals(command.requestId) === true;
}

/** Events by the index of the command they belong to; those of the whole record are left out. */
export function eventsByCommand(
  events: Execution['events'],
): ReadonlyMap<number, readonly PlacedEvent[]> {
  const byCommand = new Map<number, PlacedEvent[]>();
  for (const [index, event] of events.entries()) {
    if (!('command' in event)) continue;
    const known = byCommand.get(event.command);
    if (known === undefined) byCommand.set(event.command, [{ index, event }]);
    else known.push({ index, event });
  }
  return byCommand;
}
