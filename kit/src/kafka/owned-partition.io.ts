import { Fault } from '../fault/index.ts';
import { failureFacts, isPassing } from './kafkajs-errors.ts';
import type { PartitionLane } from './partition-lane.io.ts';

/** Callbacks of an owned partition. */
export interface OwnedPartitionHooks {
  /** The first offset to read; may take long. */
  onAssigned(): Promise<number>;
  onRevoked(): Promise<void>;
  /** Starts to read. Rejects when the offset is out of range. */
  open(from: number): Promise<PartitionLane>;
  remove(lane: PartitionLane): Promise<void>;
  onFault(fault: Fault): void;
}

/**
 * One partition from assignment to revocation; a later assignment is a new object. Its starts, restores and its end are
 * steps that follow each other, so there is one lane at most and the end finds whatever lane there is.
 */
export class OwnedPartition {
  readonly partition: number;
  readonly #hooks: OwnedPartitionHooks;
  #lane: PartitionLane | null = null;
  #revoked = false;
  #paused = false;
  /** The end of the newest step. */
  #steps: Promise<void>;
  /** A restore that has not begun; later ones are the same. */
  #waiting: Promise<void> | null = null;
  #assignedOnce = false;
  #revoking: Promise<void> | null = null;

  /** `ready` is what has to end before: an earlier ownership of the same partition. */
  constructor(partition: number, hooks: OwnedPartitionHooks, ready: Promise<unknown>) {
    this.partition = partition;
    this.#hooks = hooks;
    this.#steps = ready.then(() => this.#start());
  }

  /** False from the moment of revocation. */
  get owned(): boolean {
    return !this.#revoked;
  }

  /** As of its lane; -Infinity while there is none. */
  get readThroughMs(): number {
    return this.#lane?.readThroughMs ?? Number.NEGATIVE_INFINITY;
  }

  /** No batch starts after this call; resolves when `onRevoked` has ended. */
  revoke(): Promise<void> {
    this.#revoked = true;
    void this.#lane?.close();
    this.#revoking ??= this.#step(() => this.#end());
    return this.#revoking;
  }

  /** No batch starts after this call; the partition stays ours. */
  pause(): void {
    this.#paused = true;
    void this.#lane?.close();
  }

  /** After `pause` or a fault: asks `onAssigned` again and reads from there. */
  restore(): Promise<void> {
    this.pause();
    this.#waiting ??= this.#step(() => this.#restart());
    return this.#waiting;
  }

  /** Records that waited for the owner to be heard by its group are delivered. */
  wake(): void {
    this.#lane?.wake();
  }

  /** Runs after all steps before it, also after one that failed. */
  #step(run: () => Promise<void>): Promise<void> {
    const ended = this.#steps.then(run);
    this.#steps = ended.catch(() => {});
    return ended;
  }

  async #restart(): Promise<void> {
    this.#waiting = null;
    this.#paused = false;
    await this.#dropLane();
    // Paused again meanwhile: a restore that comes later starts it.
    if (!this.#paused) await this.#start();
  }

  async #start(): Promise<void> {
    if (this.#revoked) return;
    this.#assignedOnce = true;
    try {
      const from = await this.#hooks.onAssigned();
      if (this.#revoked || this.#paused) return;
      const lane = await this.#hooks.open(from);
      this.#lane = lane;
      if (this.#revoked || this.#paused) await lane.close();
    } catch (error) {
      if (this.#revoked) return;
      this.#hooks.onFault(error instanceof Fault ? error : assignFailed(this.partition, error));
    }
  }

  async #end(): Promise<void> {
    await this.#dropLane();
    if (this.#assignedOnce) await this.#hooks.onRevoked();
  }

  async #dropLane(): Promise<void> {
    const lane = this.#lane;
    this.#lane = null;
    if (lane !== null) await this.#hooks.remove(lane);
  }
}

/** Without a leader or a connection now, the partition can be assigned later; anything else was not foreseen. */
function assignFailed(partition: number, cause: unknown): Fault {
  const passes = isPassing(cause);
  const facts = { partition, ...(passes ? failureFacts(cause) : {}) };
  return new Fault('assign_failed', passes ? 'release' : 'stop', { facts, cause });
}
