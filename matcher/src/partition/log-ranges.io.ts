import { Fault } from '@pm/kit/fault';
import {
  type LogAdmin,
  type LogClient,
  type PartitionBounds,
  type RecordBatch,
  readRange,
} from '@pm/kit/kafka';

/** Offsets [from, to) of one partition, in batches. */
export interface RangeRead {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
  onBatch(batch: Pick<RecordBatch, 'records'>): Promise<void>;
}

/** Reads of the log without a consumer group, for restores. */
export interface LogRanges {
  /** Throws `partition_unknown` (release). */
  bounds(topic: string, partition: number): Promise<PartitionBounds>;
  /** Resolves when every record of the range was handled. Throws the faults of `readRange` and of `onBatch`. */
  read(range: RangeRead): Promise<void>;
}

/** Ranges of the log through the kit's client. */
export function openLogRanges(client: LogClient, admin: Pick<LogAdmin, 'bounds'>): LogRanges {
  return {
    async bounds(topic, partition) {
      const found = (await admin.bounds(topic)).get(partition);
      if (found !== undefined) return found;
      throw new Fault('partition_unknown', 'release', { facts: { topic, partition } });
    },
    read: (range) => readRange(client, range),
  };
}
