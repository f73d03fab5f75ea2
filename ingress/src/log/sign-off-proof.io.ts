import type { CommandSender } from '@pm/domain/commands/command-channel.io';
import type { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import type { Log } from '@pm/kit/log';
import { runRounds } from '@pm/kit/rounds';
import type { CommandOf } from '@pm/schemas/log/orders';

export interface SignOffProofOptions {
  readonly partitions: Pick<PartitionLiveness, 'numbers' | 'isReady'>;
  readonly commands: Pick<CommandSender, 'run'>;
  readonly log: Log;
}

/**
 * Pauses between rounds, milliseconds: short before the first proof, which a start waits for; they double while a
 * partition rejects the key.
 */
const startPauseMs = 50;
const firstPauseMs = 500;
const longestPauseMs = 10_000;

/** A cancel of an order that does not exist: any partition answers it, and it changes nothing. */
const noOperation: CommandOf<'CancelOrder'> = {
  kind: 'CancelOrder',
  orderId: Buffer.alloc(32),
  signer: Buffer.alloc(20),
};

/**
 * Proves that the partitions take what this process signs, by a signed command that changes nothing: a key that is not
 * listed there, or was retired, fails every order, and only the partition knows.
 */
export class SignOffProof {
  readonly #options: SignOffProofOptions;
  readonly #proven = new Set<number>();
  readonly #rejected = new Set<number>();
  #pauseMs = firstPauseMs;

  constructor(options: SignOffProofOptions) {
    this.#options = options;
  }

  /** Whether no partition has rejected the key, and one that works has taken it. */
  get isProven(): boolean {
    return this.#rejected.size === 0 && this.#proven.size > 0;
  }

  /** Partitions that reject what this process signs. */
  get rejecting(): readonly number[] {
    return [...this.#rejected].sort((left, right) => left - right);
  }

  /** A partition has rejected a command, as after its key was retired: it is asked again. */
  onRejected(partition: number): void {
    this.#proven.delete(partition);
  }

  /** Tries the partitions that work and have not taken the key; resolves with the pause before the next round. */
  async round(): Promise<number> {
    const { partitions } = this.#options;
    const untried = partitions.numbers.filter(
      (partition) => !this.#proven.has(partition) && partitions.isReady(partition),
    );
    await Promise.all(untried.map((partition) => this.#try(partition)));
    const doubled = Math.min(this.#pauseMs * 2, longestPauseMs);
    this.#pauseMs = this.#rejected.size === 0 ? firstPauseMs : doubled;
    const isStarting = this.#rejected.size + this.#proven.size === 0;
    return isStarting ? startPauseMs : this.#pauseMs;
  }

  /** Rounds until `close`. */
  start(): { close(): Promise<void> } {
    return runRounds({
      round: () => this.round(),
      onFailure: (error) => {
        this.#options.log.warn({ err: error }, 'the sign-off key was not tried');
        return longestPauseMs;
      },
    });
  }

  async #try(partition: number): Promise<void> {
    const { kind } = await this.#options.commands.run(partition, noOperation);
    if (kind === 'executed') {
      this.#proven.add(partition);
      this.#rejected.delete(partition);
    }
    if (kind !== 'rejected' || this.#rejected.has(partition)) return;
    this.#rejected.add(partition);
    this.#options.log.error({ partition }, 'a partition rejects the sign-off key of this process');
  }
}
