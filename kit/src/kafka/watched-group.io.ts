import type { Fault } from '../fault/index.ts';
import type { GroupOptions, PartitionGroup } from './group.io.ts';
import type { LogClient } from './log-client.io.ts';
import type { ReaderSilence } from './reader-silence.ts';

export interface WatchedGroupParts {
  readonly client: Pick<LogClient, 'group'>;
  monotonicMs(): number;
  /** Called with the group before it closes. */
  onClosed(group: WatchedGroup): void;
}

/** A group whose partitions are restored where they are read no more. */
export class WatchedGroup {
  readonly #parts: WatchedGroupParts;
  readonly #topic: string;
  /** Since when a partition is to be read, by those that are. */
  readonly #readSinceMs = new Map<number, number>();
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
      this.#readSinceMs.delete(partition);
      release(partition);
    };
    return group;
  }

  /** Of the partitions that are read now; none of those that are being restored or have a fault. */
  silences(nowMs: number): readonly ReaderSilence[] {
    const group = this.#group;
    if (group === null) return [];
    return [...this.#readSinceMs].map(([partition, readSinceMs]) => {
      const sinceMs = Math.max(readSinceMs, group.answeredMs(partition));
      return { topic: this.#topic, partition, silentMs: Math.max(0, nowMs - sinceMs) };
    });
  }

  /** Reads a partition again from the offset that its owner asks for; faults go to the owner. */
  restore(partition: number): void {
    this.#readSinceMs.delete(partition);
    void this.#group?.restore(partition);
  }

  #observed(options: GroupOptions): GroupOptions {
    const since = this.#readSinceMs;
    return {
      ...options,
      onAssigned: async (partition) => {
        since.delete(partition);
        const from = await options.onAssigned(partition);
        since.set(partition, this.#parts.monotonicMs());
        return from;
      },
      onRevoked: async (partition) => {
        since.delete(partition);
        await options.onRevoked(partition);
      },
      onFault: (fault: Fault, partition) => {
        if (partition !== null) since.delete(partition);
        options.onFault(fault, partition);
      },
      onBatch: (batch) => options.onBatch(batch),
    };
  }
}
