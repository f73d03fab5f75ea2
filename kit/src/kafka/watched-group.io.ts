import type { Fault } from '../fault/index.ts';
import type { GroupOptions, PartitionGroup } from './group.io.ts';
import type { LogClient } from './log-client.io.ts';
import { isStall } from './reader.io.ts';
import { type ReaderSilence, reopenAfterMs } from './reader-silence.ts';

export interface WatchedGroupParts {
  readonly client: Pick<LogClient, 'group'>;
  monotonicMs(): number;
  /** Called with the group before it closes. */
  onClosed(group: WatchedGroup): void;
}

/** Times of the fetch responses for a partition, monotonic milliseconds. */
interface Silence {
  /** The newest answered fetch, later by the times in which it was not to be read: no restore ends a silence. */
  sinceMs: number;
  /** Since when it is to be read. */
  readSinceMs: number;
  /** Since when it is restored or has a fault; null while it is to be read. */
  stoppedMs: number | null;
}

/** A group whose partitions are restored where they are read no more. */
export class WatchedGroup {
  readonly #parts: WatchedGroupParts;
  readonly #topic: string;
  /** Silence of each partition that is ours. */
  readonly #silences = new Map<number, Silence>();
  #group: PartitionGroup | null = null;

  constructor(parts: WatchedGroupParts, topic: string) {
    this.#parts = parts;
    this.#topic = topic;
  }

  /** Rejects with the faults of `LogClient.group`. */
  async open(options: GroupOptions): Promise<PartitionGroup> {
    const group = await this.#parts.client.group(this.#observed(options));
    this.#group = group;
    const [close, release] = [group.close.bind(group), group.release.bind(group)];
    group.close = () => {
      this.#parts.onClosed(this);
      return close();
    };
    group.release = (partition) => {
      this.#stop(partition);
      release(partition);
    };
    return group;
  }

  /**
   * By partition how long no fetch of it was answered, whatever was restored meanwhile; none of those that are being
   * restored or have a fault.
   */
  silences(nowMs: number): readonly ReaderSilence[] {
    const read = [...this.#silences].filter(([, { stoppedMs }]) => stoppedMs === null);
    return read.map(([partition, silence]) => {
      this.#hear(partition, silence);
      return { topic: this.#topic, partition, silentMs: Math.max(0, nowMs - silence.sinceMs) };
    });
  }

  /**
   * Reads a partition again from the offset that its owner asks for; faults go to the owner. False while it is not to
   * be read, and for `reopenAfterMs` after it began to be.
   */
  restore(partition: number): boolean {
    const silence = this.#silences.get(partition);
    if (silence === undefined || silence.stoppedMs !== null) return false;
    if (this.#parts.monotonicMs() - silence.readSinceMs <= reopenAfterMs) return false;
    this.#stop(partition);
    void this.#group?.restore(partition);
    return true;
  }

  #start(partition: number): void {
    const nowMs = this.#parts.monotonicMs();
    const { sinceMs = nowMs, stoppedMs = nowMs } = this.#silences.get(partition) ?? {};
    const silentMs = (stoppedMs ?? nowMs) - sinceMs;
    const silence = { sinceMs: nowMs - silentMs, readSinceMs: nowMs, stoppedMs: null };
    this.#silences.set(partition, silence);
  }

  #stop(partition: number): void {
    const silence = this.#silences.get(partition);
    if (silence === undefined) return;
    this.#hear(partition, silence);
    silence.stoppedMs ??= this.#parts.monotonicMs();
  }

  /** Notes the newest answer: nothing is known of it once the partition is not read any more. */
  #hear(partition: number, silence: Silence): void {
    const answeredMs = this.#group?.answeredMs(partition) ?? Number.NEGATIVE_INFINITY;
    silence.sinceMs = Math.max(silence.sinceMs, answeredMs);
  }

  #observed(options: GroupOptions): GroupOptions {
    return {
      ...options,
      onAssigned: async (partition) => {
        this.#stop(partition);
        const from = await options.onAssigned(partition);
        this.#start(partition);
        return from;
      },
      onRevoked: async (partition) => {
        this.#silences.delete(partition);
        await options.onRevoked(partition);
      },
      onFault: (fault: Fault, partition) => {
        if (partition !== null && !isStall(fault)) this.#stop(partition);
        options.onFault(fault, partition);
      },
      onBatch: (batch) => options.onBatch(batch),
    };
  }
}
