import type { Command } from '@pm/schemas';
import { isCertainlyUnsent, type OrderSink } from './envelope-sender.io.ts';
import type { CommandResult, ResultWaiters } from './result-waiters.ts';

/** `CommandOutcome` of the routes: a result, certainly unsent, or unknown within the time. */
export type RunOutcome =
  | (CommandResult & { readonly times?: { readonly logMs: number; readonly matchMs: number } })
  | { readonly kind: 'unsent'; readonly code: 'overloaded' | 'internal_error' }
  | { readonly kind: 'pending' };

export interface CommandRunnerOptions {
  readonly sink: Pick<OrderSink, 'add'>;
  readonly waiters: ResultWaiters;
  /** How long a result is waited for, milliseconds. */
  readonly waitMs: number;
}

/** Commands that wait for their results; beyond it the door says 503. */
const waitingCommandsMax = 20_000;

const overloaded: RunOutcome = { kind: 'unsent', code: 'overloaded' };

/** Puts commands on the log and waits for what they did, bounded. */
export class CommandRunner {
  readonly #options: CommandRunnerOptions;

  constructor(options: CommandRunnerOptions) {
    this.#options = options;
  }

  run(partition: number, command: Command): Promise<RunOutcome> {
    const { sink, waiters, waitMs } = this.#options;
    if (waiters.count >= waitingCommandsMax) return Promise.resolve(overloaded);
    const ticket = sink.add(partition, command);
    if (ticket === null) return Promise.resolve(overloaded);
    const { sequence, command: index } = ticket;
    const startedMs = performance.now();
    let sentMs = 0;
    return new Promise((resolve) => {
      const conclude = (outcome: RunOutcome) => {
        clearTimeout(timer);
        waiters.remove(sequence, index);
        resolve(
          outcome.kind === 'answered' ? { ...outcome, times: timesOf(startedMs, sentMs) } : outcome,
        );
      };
      const timer = setTimeout(() => conclude({ kind: 'pending' }), waitMs);
      waiters.add(sequence, index, conclude);
      ticket.sent.then(
        () => {
          sentMs = performance.now();
        },
        (error: unknown) => {
          // An unknown outcome is not a failure: the record may be on the log, so the result is waited for.
          if (isCertainlyUnsent(error)) conclude(unsentBy(error));
        },
      );
    });
  }
}

/** A result may be heard before the send is acknowledged; then the log took all of the time. */
function timesOf(startedMs: number, sentMs: number) {
  const endedMs = performance.now();
  if (sentMs === 0) return { logMs: endedMs - startedMs, matchMs: 0 };
  return { logMs: sentMs - startedMs, matchMs: endedMs - sentMs };
}

function unsentBy(error: unknown): RunOutcome {
  const isFull = error instanceof Error && Reflect.get(error, 'code') === 'queue_full';
  return isFull ? overloaded : { kind: 'unsent', code: 'internal_error' };
}
