import type { Admin, Kafka } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { KafkajsAdmin, type LogAdmin } from './admin.io.ts';
import { connectAdmin } from './admin-connection.io.ts';
import { type GroupOptions, openGroup, type PartitionGroup } from './group.io.ts';
import type { LogClientOptions } from './kafkajs-connection.io.ts';
import { ClientSockets, openKafkajs } from './kafkajs-connection.io.ts';
import { defaultLimits, type LogClientLimits } from './limits.ts';
import type { LogClient } from './log-client.io.ts';
import { ProduceWire } from './produce-wire.io.ts';
import { LaneProducer, type LogProducer } from './producer.io.ts';
import { type LogReader, openReader, type ReaderOptions } from './reader.io.ts';
import type { SendQueueLimits } from './send-queue.ts';
import { Shared } from './shared.io.ts';
import { SharedFetchers } from './shared-fetchers.io.ts';
import type { PartitionCounts } from './topic-offsets.io.ts';
import { closeWithin } from './waiting.io.ts';
import { withFaults } from './with-faults.io.ts';

interface Closable {
  close(): Promise<void>;
}

/** Opens no connection yet; each part connects when it is opened. */
export function openLogClient(options: LogClientOptions): LogClient {
  return new KafkajsClient(options);
}

/** A start asks for bounds dozens of times: how long the connection waits for the next question, milliseconds. */
const adminLingerMs = 2_000;

class KafkajsClient implements LogClient {
  readonly #limits: LogClientLimits;
  readonly #log: Log;
  readonly #kafka: Kafka;
  readonly #hiddenSettings: readonly string[];
  readonly #counts: PartitionCounts = new Map();
  readonly #sockets = new ClientSockets();
  readonly #shared: SharedFetchers;
  readonly #admin: Shared<Admin>;
  readonly #open = new Set<Closable>();
  /** Parts that are being opened. */
  readonly #opening = new Set<Promise<Closable>>();
  #closed = false;

  constructor(options: LogClientOptions) {
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#log = options.log;
    this.#hiddenSettings = options.hiddenSettings ?? [];
    this.#kafka = openKafkajs(options, this.#limits, this.#sockets);
    this.#shared = new SharedFetchers(this.#kafka, this.#limits, this.#log);
    this.#admin = new Shared({
      open: () => connectAdmin(this.#kafka, this.#limits),
      close: (admin) => admin.disconnect(),
      lingerMs: adminLingerMs,
    });
  }

  producer(options: Partial<SendQueueLimits> = {}): Promise<LogProducer> {
    const limits = { ...this.#limits, ...options };
    return this.#openPart(async () => {
      const wire = new ProduceWire(this.#kafka, limits);
      await withFaults(wire.connect());
      return new LaneProducer({ limits, log: this.#log, wire });
    });
  }

  reader(options: ReaderOptions): Promise<LogReader> {
    const parts = { kafka: this.#kafka, limits: this.#limits, shared: this.#shared };
    return this.#openPart(() => withFaults(openReader(parts, options)));
  }

  group(options: GroupOptions): Promise<PartitionGroup> {
    const parts = {
      kafka: this.#kafka,
      limits: this.#limits,
      log: this.#log,
      shared: this.#shared,
      admin: this.#admin,
    };
    return this.#openPart(() => withFaults(openGroup(parts, options)));
  }

  admin(): Promise<LogAdmin> {
    const leave = () => this.#admin.leave();
    return this.#openPart(async () => {
      try {
        const admin = await withFaults(this.#admin.join());
        const connection = {
          admin,
          leave,
          hiddenSettings: this.#hiddenSettings,
          counts: this.#counts,
        };
        return new KafkajsAdmin(connection, this.#kafka, this.#limits);
      } catch (error) {
        await leave();
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const closing = [...this.#open].map((part) => part.close());
    const opening = Promise.allSettled(this.#opening);
    await Promise.all([...closing, closeWithin(opening, this.#limits.closeTimeoutMs)]);
    await Promise.all([this.#shared.close(), this.#admin.closeUnused()]);
    this.#sockets.close();
  }

  /**
   * Remembers a part until it closes; closing twice is closing once. One that opens while the client closes is closed,
   * however late that is, and its caller gets `client_closed`.
   */
  async #openPart<T extends Closable>(open: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    const opening = open().then(async (part) => {
      this.#track(part);
      if (this.#closed) await part.close();
      this.#assertOpen();
      return part;
    });
    this.#opening.add(opening);
    try {
      return await opening;
    } catch (error) {
      // Its connections were ended.
      this.#assertOpen();
      throw error;
    } finally {
      this.#opening.delete(opening);
    }
  }

  #track(part: Closable): void {
    const close = part.close.bind(part);
    let closing: Promise<void> | null = null;
    part.close = () => {
      closing ??= close().finally(() => this.#open.delete(part));
      return closing;
    };
    this.#open.add(part);
  }

  #assertOpen(): void {
    if (this.#closed) throw new Fault('client_closed', 'stop');
  }
}
