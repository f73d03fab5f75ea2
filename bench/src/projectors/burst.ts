import { setTimeout as sleep } from 'node:timers/promises';
import type { LogProducer } from '@pm/kit/kafka';
import { executionsTopic } from '../partition/log.ts';
import { groupsOf } from '../stream/envelopes.ts';
import type { Installation } from '../world/installation.ts';
import { between, startProjector, type Usage } from './process.ts';

/** How a view came through the burst; milliseconds from its first append. */
export interface BurstView {
  readonly view: string;
  readonly largestLagRecords: number;
  /** Age of the records that are not stored yet, since their acknowledgement by the broker. */
  readonly largestLagMs: number;
  readonly completeMs: number;
}

export interface Burst {
  readonly records: number;
  /** Until the last append was acknowledged. */
  readonly appendedMs: number;
  readonly views: readonly BurstView[];
  readonly used: Usage;
}

/** Records that are sent together. */
const windowRecords = 64;
const lookEveryMs = 50;
const idleMs = 2_000;
const views = ['tables', 'books'] as const;

/** Appends record values to `executions[0]`; `onAppended` receives the end of the log after each window. */
export async function append(
  producer: LogProducer,
  values: readonly Buffer[],
  onAppended: (end: number) => void = () => {},
): Promise<void> {
  for (const window of groupsOf(values, windowRecords)) {
    const records = window.map((value) => ({
      topic: executionsTopic,
      partition: 0,
      key: null,
      value,
    }));
    const sends = records.map((record) => producer.send([record]));
    const places = await Promise.all(sends);
    onAppended((places.at(-1)?.at(-1)?.offset ?? -1) + 1);
  }
}

/** Waits until both views have stored `from`, appends all at once, and polls until everything is stored. */
export async function runBurst(
  place: Installation,
  producer: LogProducer,
  { from, values }: { readonly from: number; readonly values: readonly Buffer[] },
): Promise<Burst> {
  const projector = await startProjector(place, { PM_VIEWS: views.join(',') });
  try {
    for (const view of views)
      await projector.until(
        view,
        ({ phase, position }) => phase === 'running' && position >= from,
        50,
      );
    await sleep(idleMs);
    const before = projector.usage();
    const startedMs = performance.now();
    /** When the log had come to an offset. */
    const ends: { readonly end: number; readonly atMs: number }[] = [];
    const appending = append(producer, values, (end) => {
      ends.push({ end, atMs: performance.now() });
    });
    const watches = views.map((view) => new Watch(view, from, startedMs));
    while (watches.some(({ completeMs }) => completeMs === null)) {
      await sleep(lookEveryMs);
      for (const watch of watches)
        watch.look((await projector.status(watch.view))?.position ?? 0, ends, from + values.length);
    }
    await appending;
    const used = between(before, projector.usage());
    const appendedMs = (ends.at(-1)?.atMs ?? startedMs) - startedMs;
    return { records: values.length, appendedMs, views: watches.map((one) => one.found()), used };
  } finally {
    await projector.stop();
  }
}

class Watch {
  readonly view: string;
  completeMs: number | null = null;
  readonly #startedMs: number;
  #position: number;
  #largestLagRecords = 0;
  #largestLagMs = 0;

  constructor(view: string, from: number, startedMs: number) {
    this.view = view;
    this.#position = from;
    this.#startedMs = startedMs;
  }

  look(
    position: number,
    ends: readonly { readonly end: number; readonly atMs: number }[],
    to: number,
  ): void {
    if (this.completeMs !== null) return;
    const nowMs = performance.now();
    this.#position = Math.max(this.#position, position);
    const oldest = ends.find(({ end }) => end > this.#position);
    const lag = (ends.at(-1)?.end ?? this.#position) - this.#position;
    this.#largestLagRecords = Math.max(this.#largestLagRecords, lag);
    this.#largestLagMs = Math.max(this.#largestLagMs, nowMs - (oldest?.atMs ?? nowMs));
    if (this.#position >= to) this.completeMs = nowMs - this.#startedMs;
  }

  found(): BurstView {
    return {
      view: this.view,
      largestLagRecords: this.#largestLagRecords,
      largestLagMs: this.#largestLagMs,
      completeMs: this.completeMs ?? Number.NaN,
    };
  }
}
