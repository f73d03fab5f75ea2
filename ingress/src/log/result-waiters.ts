import type { Execution } from '@pm/schemas';
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
  | { readonly kind: 'unsent'; readonly code: 'overloaded' | 'internal_error' }
  /** No result in time; the command may be on the log. */
  | { readonly kind: 'pending' };

/** The result of a command that the log has taken. */
export type FinalResult =
  | Extract<CommandResult, { kind: 'executed' | 'rejected' }>
  /** The matcher rejected the record because the key has sent a later one before: it changed nothing. */
  | { readonly kind: 'outrun' };

type Settle = (result: FinalResult) => void;

/** Waiting commands of one sign-off key by (sequence, index in the envelope). */
export class ResultWaiters {
  readonly #bySequence = new Map<number, Map<number, Settle>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(sequence: number, command: number, settle: Settle): void {
    const commands = this.#bySequence.get(sequence) ?? new Map<number, Settle>();
    commands.set(command, settle);
    this.#bySequence.set(sequence, commands);
    this.#count += 1;
  }

  /** Stops waiting, when the result has not come in time. */
  remove(sequence: number, command: number): void {
    const commands = this.#bySequence.get(sequence);
    if (commands?.delete(command) !== true) return;
    this.#count -= 1;
    if (commands.size === 0) this.#bySequence.delete(sequence);
  }

  /** Hands the results of an envelope to those who wait for its commands. Whether it came too late for some of them. */
  settle(
    partition: number,
    { sequence, inOffset, events }: Pick<Execution, 'sequence' | 'inOffset' | 'events'>,
  ): boolean {
    const commands = this.#bySequence.get(sequence);
    if (commands === undefined) return false;
    this.#bySequence.delete(sequence);
    this.#count -= commands.size;
    const rejection = events.find((event) => event.kind === 'RecordRejected');
    if (rejection !== undefined) {
      const kind = rejection.reason === 'OLD_SEQUENCE' ? 'outrun' : 'rejected';
      for (const settle of commands.values()) settle({ kind });
      return kind === 'outrun';
    }
    const byCommand = eventsByCommand(events);
    const place = { partition, inOffset };
    for (const [command, settle] of commands) {
      settle({ kind: 'executed', place, events: byCommand.get(command) ?? [] });
    }
    return false;
  }
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
