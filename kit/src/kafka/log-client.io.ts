import type { Log } from '../log/index.ts';
import type { LogAdmin } from './admin.io.ts';
import type { GroupOptions, PartitionGroup } from './group.io.ts';
import type { LogClientLimits } from './limits.ts';
import type { LogProducer } from './producer.io.ts';
import type { LogReader, ReaderOptions } from './reader.io.ts';
import type { SendQueueLimits } from './send-queue.ts';

/** The log (Kafka) as the rooms see it. Each part has its own connections. */
export interface LogClient {
  producer(options?: Partial<SendQueueLimits>): Promise<LogProducer>;
  reader(options: ReaderOptions): Promise<LogReader>;
  group(options: GroupOptions): Promise<PartitionGroup>;
  admin(): Promise<LogAdmin>;
  /** Closes every part that is still open; groups leave first, so that others take over while the rest ends. */
  close(): Promise<void>;
}

/** How to reach the log. */
export interface LogClientOptions {
  /** `host:port` of one or more brokers; the others are learnt from these. */
  readonly brokers: readonly string[];
  /** Name the brokers log for this client. */
  readonly clientId: string;
  readonly log: Log;
  readonly limits?: Partial<LogClientLimits>;
  /** TLS; absent means plain text. PEM texts. */
  readonly ssl?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly sasl?: {
    readonly mechanism: 'plain';
    readonly username: string;
    readonly password: string;
  };
  /** Where to connect instead of an advertised address: for port forwards, and for faults in tests. */
  route?(address: { host: string; port: number }): { host: string; port: number };
}
