import type { CommandResult } from '@pm/domain/commands/result-waiters';
import type { Session } from '@pm/domain/sessions/session-table';
import { apiKeyBytes } from '@pm/schemas/ids';
import type { Command } from '@pm/schemas/log/orders';

export interface SessionCancelOptions {
  /** Puts a command on the log of a partition and waits, bounded, for what it did. */
  run(partition: number, command: Command): Promise<CommandResult>;
  /** The progress of the partitions of `executions`. */
  readonly partitions: {
    readonly numbers: readonly number[];
    isReady(partition: number): boolean;
    at(partition: number): { readonly clockMs: number };
  };
  /** Unix milliseconds. */
  nowMs(): number;
  /** Between two tries that cannot have left anything on the log, milliseconds. */
  readonly retryMs?: number;
}

/** Whether this process is the one to cancel: as far as it has read, and as the log says now. */
export interface Ours {
  isSo(): boolean;
  isStillSo(): Promise<boolean>;
}

/** Longest distance that a fence may be ahead of the clock of the partition: ticks come twice a second. */
const fenceAheadMaxMs = 500;
const defaultRetryMs = 500;
/** After a try that may still reach the log: by then it is too late there (`CancelOrders.acceptedAtMs`). */
const afterPendingMs = 3_000;
/** A key has so many orders in a partition at most that this is enough; a full table of fences needs time to pass. */
const triesInARowMax = 16;
/** Cancels of sessions that wait for one partition at once; the others of that partition come after them. */
const cancelsAtOnceMax = 64;

/** Limits the cancels of one partition: a partition without an owner does not delay the others. */
class PartitionLimit {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async enter(): Promise<void> {
    if (this.#running >= cancelsAtOnceMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      return;
    }
    this.#running += 1;
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

/** Takes all orders of a missed session off the books of every partition. */
export class SessionCancels {
  readonly #options: SessionCancelOptions;
  readonly #limits = new Map<number, PartitionLimit>();

  constructor(options: SessionCancelOptions) {
    this.#options = options;
  }

  /**
   * Resolves with true when every partition has confirmed that nothing is left, with false when the session is no
   * longer ours: what is not ours may belong to the next session of the key.
   */
  async cancel(session: Session, ours: Ours): Promise<boolean> {
    const { numbers } = this.#options.partitions;
    const done = numbers.map((partition) => this.#cancelIn(partition, session, ours));
    return (await Promise.all(done)).every((isDone) => isDone);
  }

  async #cancelIn(partition: number, session: Session, ours: Ours): Promise<boolean> {
    const retryMs = this.#options.retryMs ?? defaultRetryMs;
    for (let tries = 1; ours.isSo(); tries += 1) {
      const result = await this.#limited(partition, () => this.#try(partition, session, ours));
      const waitMs = waitAfter(result, retryMs);
      if (waitMs === null) return ours.isSo();
      const isPause = waitMs > 0 || tries % triesInARowMax === 0;
      if (isPause) await new Promise((resolve) => setTimeout(resolve, Math.max(waitMs, retryMs)));
    }
    return false;
  }

  async #limited<T>(partition: number, act: () => Promise<T>): Promise<T> {
    const limit = this.#limits.get(partition) ?? new PartitionLimit();
    this.#limits.set(partition, limit);
    await limit.enter();
    try {
      return await act();
    } finally {
      limit.leave();
    }
  }

  /**
   * The time of the command is taken before the log is asked whether the session is still ours. So a process that is
   * stopped anywhere in between sends a command that is too late, however fresh its clock is when it goes on.
   */
  async #try(partition: number, session: Session, ours: Ours): Promise<CommandResult | null> {
    const { partitions, run } = this.#options;
    if (!ours.isSo() || !partitions.isReady(partition)) return null;
    const command = this.#commandOf(partition, session);
    return (await ours.isStillSo()) ? await run(partition, command) : null;
  }

  /** Its time is the partition's, not this host's: a record that comes late is refused whatever clocks say here. */
  #commandOf(partition: number, session: Session): Command {
    const { clockMs } = this.#options.partitions.at(partition);
    const fenceMs = Math.min(Math.max(this.#options.nowMs(), clockMs), clockMs + fenceAheadMaxMs);
    return {
      kind: 'CancelOrders',
      signer: null,
      apiKey: apiKeyBytes(session.apiKey),
      market: -1,
      outcome: -1,
      session: true,
      acceptedAtMs: fenceMs,
    };
  }
}

/** How long to wait before the next try, milliseconds; null when nothing is left. */
function waitAfter(result: CommandResult | null, retryMs: number): number | null {
  if (result === null) return retryMs;
  if (result.kind === 'pending') return afterPendingMs;
  if (result.kind !== 'executed') return retryMs;
  const refused = result.events.find(({ event }) => event.kind === 'CommandRefused');
  if (refused === undefined) return null;
  // More orders than one record may cancel: the next one at once. Anything else needs time to pass.
  const isRest = 'code' in refused.event && refused.event.code === 'too_many_open_orders';
  return isRest ? 0 : retryMs;
}
