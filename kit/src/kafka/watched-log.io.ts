import type { Log } from '../log/index.ts';
import type { MetricDeclarations, Metrics } from '../metrics/index.ts';
import type { GroupOptions, PartitionGroup } from './group.io.ts';
import { openLogClient } from './kafkajs-client.io.ts';
import type { LogClientOptions } from './kafkajs-connection.io.ts';
import type { LogClient } from './log-client.io.ts';
import type { LogReader, ReaderOptions } from './reader.io.ts';
import {
  longestSilences,
  notLive,
  type ReaderSilence,
  readerSilenceMaxMs,
  reopenAfterMs,
} from './reader-silence.ts';
import { WatchedGroup } from './watched-group.io.ts';
import { WatchedReader } from './watched-reader.io.ts';

/** Metrics of all readers of a process. */
export const readerMetrics = {
  silence: {
    type: 'gauge',
    name: 'pm_reader_silence_seconds',
    help: 'Time since the leader of a partition answered a fetch of this process, an empty one too.',
    labels: ['topic', 'partition'],
  },
} as const satisfies MetricDeclarations;

export interface WatchedLogOptions {
  readonly client: LogClient;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'gauge'>;
  monotonicMs(): number;
}

/** How often silences are looked at, milliseconds. */
const lookEveryMs = 1_000;

/**
 * The log of a process that proves the progress of its followers by what comes back: by partition the time since the
 * newest answered fetch. A reader that gets none for `reopenAfterMs` is opened again where it is, and a partition of a
 * group is restored; nothing else about either changes.
 */
export class WatchedLog implements LogClient {
  readonly #options: WatchedLogOptions;
  readonly #readers = new Set<WatchedReader>();
  readonly #groups = new Set<WatchedGroup>();
  readonly #timer: NodeJS.Timeout;
  #lookedMs: number;
  /** Silence counts from here: a process that was suspended has heard nothing either. */
  #awakeSinceMs = Number.NEGATIVE_INFINITY;

  constructor(options: WatchedLogOptions) {
    this.#options = options;
    this.#lookedMs = options.monotonicMs();
    this.#timer = setInterval(() => this.#look(), lookEveryMs);
    options.metrics.gauge({
      ...readerMetrics.silence,
      readAll: () =>
        this.silences().map(({ silentMs, ...labels }) => ({ labels, value: silentMs / 1_000 })),
    });
  }

  /** By partition, the longest of several readers. What was opened or restored in vain counts on. */
  silences(): readonly ReaderSilence[] {
    return longestSilences([...this.#readers, ...this.#groups].flatMap((one) => this.#of(one)));
  }

  /**
   * Reasons why this process is not ready: `reader:TOPIC:PARTITION` of those that are not live. `except`: name of a
   * topic of which single partitions may be silent, because what needs them is refused.
   */
  notReady(except?: string): readonly string[] {
    return notLive(this.silences())
      .filter(({ topic }) => topic !== except)
      .map(({ topic, partition }) => `reader:${topic}:${partition}`);
  }

  async reader(options: ReaderOptions): Promise<LogReader> {
    const { client, monotonicMs } = this.#options;
    const onClosed = (reader: WatchedReader) => void this.#readers.delete(reader);
    const reader = await WatchedReader.open({ client, monotonicMs, onClosed }, options);
    this.#readers.add(reader);
    return reader;
  }

  async group(options: GroupOptions): Promise<PartitionGroup> {
    const { client, monotonicMs } = this.#options;
    const onClosed = (closed: WatchedGroup) => void this.#groups.delete(closed);
    const group = new WatchedGroup({ client, monotonicMs, onClosed }, options.topic);
    const opened = await group.open(options);
    this.#groups.add(group);
    return opened;
  }

  producer(...options: Parameters<LogClient['producer']>): ReturnType<LogClient['producer']> {
    return this.#options.client.producer(...options);
  }

  admin(): ReturnType<LogClient['admin']> {
    return this.#options.client.admin();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const readers = [...this.#readers].map((reader) => reader.close());
    await Promise.all([this.#options.client.close(), ...readers]);
  }

  #of(one: WatchedReader | WatchedGroup): readonly ReaderSilence[] {
    const nowMs = this.#options.monotonicMs();
    const awakeMs = nowMs - this.#awakeSinceMs;
    return one
      .silences(nowMs)
      .map((silence) => ({ ...silence, silentMs: Math.min(silence.silentMs, awakeMs) }));
  }

  #look(): void {
    const nowMs = this.#options.monotonicMs();
    if (nowMs - this.#lookedMs > readerSilenceMaxMs) this.#awakeSinceMs = nowMs;
    this.#lookedMs = nowMs;
    for (const reader of this.#readers) {
      const [silent] = this.#of(reader).filter(isLasting);
      if (silent === undefined) continue;
      if (reader.reopen())
        this.#options.log.warn({ ...silent }, 'a reader without answers is opened again');
    }
    for (const group of this.#groups)
      for (const silent of this.#of(group).filter(isLasting)) {
        if (group.restore(silent.partition))
          this.#options.log.warn({ ...silent }, 'a partition without answers is restored');
      }
  }
}

/** A client whose followers are watched. Opens no connection yet. */
export function openWatchedLog(
  options: LogClientOptions & Pick<WatchedLogOptions, 'metrics' | 'monotonicMs'>,
): WatchedLog {
  return new WatchedLog({ ...options, client: openLogClient(options) });
}

function isLasting({ silentMs }: ReaderSilence): boolean {
  return silentMs > reopenAfterMs;
}
