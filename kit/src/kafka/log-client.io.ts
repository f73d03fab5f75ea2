import type { LogAdmin } from './admin.io.ts';
import type { GroupOptions, PartitionGroup } from './group.io.ts';
import type { LogProducer } from './producer.io.ts';
import type { LogReader, ReaderOptions } from './reader.io.ts';
import type { SendQueueLimits } from './send-queue.ts';

/** The log (Kafka) as the rooms see it. Each part has its own connections. */
export interface LogClient {
  producer(options?: Partial<SendQueueLimits>): Promise<LogProducer>;
  reader(options: ReaderOptions): Promise<LogReader>;
  group(options: GroupOptions): Promise<PartitionGroup>;
  admin(): Promise<LogAdmin>;
  /** Closes every part that is still open; groups leave first, so that others take over while the rest closes. */
  close(): Promise<void>;
}
