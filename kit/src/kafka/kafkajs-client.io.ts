import type { Kafka } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { KafkajsAdmin, type LogAdmin } from './admin.io.ts';
import { type GroupOptions, openGroup, type PartitionGroup } from './group.io.ts';
import type { LogClientOptions } from './kafkajs-connection.io.ts';
import { openKafkajs, retryOptions } from './kafkajs-connection.io.ts';
import { defaultLimits, type LogClientLimits } from './limits.ts';
import type { LogClient } from './log-client.io.ts';
import { ProduceWire } from './produce-wire.io.ts';
import { LaneProducer, type LogProducer } from './producer.io.ts';
import { type LogReader, openReader, type ReaderOptions } from './reader.io.ts';
import type { SendQueueLimits } from './send-queue.ts';
import { SharedFetchers } from './shared-fetchers.io.ts';

interface Closable {
  close(): Promise<void>;
}

/** Opens no connection yet; each part connects when it is opened. */
export function openLogClient(options: LogClientOptions): LogClient {
  return new KafkajsClient(options);
}

class KafkajsClient implements LogClient {
  readonly #limits: LogClientLimits;
  readonly #log: Log;
  readonly #kafka: Kafka;
  readonly #shared: SharedFetchers;
  readonly #open = new Set<Closable>();
  #closed = false;

  constructor(options: LogClientOptions) {
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#log = options.log;
    this.#kafka = openKafkajs(options, this.#limits);
    this.#shared = new SharedFetchers(this.#kafka, this.#limits, this.#log);
  }

  async producer(options: Partial<SendQueueLimits> = {}): Promise<LogProducer> {
    this.#assertOpen();
    const limits = { ...this.#limits, ...options };
    const wire = new ProduceWire(this.#kafka, limits);
    await wire.connect();
    return this.#track(new LaneProducer({ limits, log: this.#log, wire }));
  }

  async reader(options: ReaderOptions): Promise<LogReader> {
    this.#assertOpen();
    const parts = { kafka: this.#kafka, limits: this.#limits, shared: this.#shared };
    return this.#track(await openReader(parts, options));
  }

  async group(options: GroupOptions): Promise<PartitionGroup> {
    this.#assertOpen();
    const parts = {
      kafka: this.#kafka,
      limits: this.#limits,
      log: this.#log,
      shared: this.#shared,
    };
    return this.#track(await openGroup(parts, options));
  }

  async admin(): Promise<LogAdmin> {
    this.#assertOpen();
    const admin = this.#kafka.admin({ retry: retryOptions(this.#limits) });
    await admin.connect();
    return this.#track(new KafkajsAdmin(admin, this.#kafka, this.#limits));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#open].map((part) => part.close()));
  }

  /** Remembers a part until it closes; closing twice is closing once. */
  #track<T extends Closable>(part: T): T {
    const close = part.close.bind(part);
    let closing: Promise<void> | null = null;
    part.close = () => {
      closing ??= close().finally(() => this.#open.delete(part));
      return closing;
    };
    this.#open.add(part);
    return part;
  }

  #assertOpen(): void {
    if (this.#closed) throw new Fault('client_closed', 'stop');
  }
}
