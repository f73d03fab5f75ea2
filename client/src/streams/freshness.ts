import type { StreamChannel } from '@pm/schemas/streams/channels';
import { callGuarded } from '../platform.ts';
import type { Subscriber } from './subscription.ts';

/** A subscription is stale from here on: what it has shown may be old. Or it is fresh again: that is of now. */
export interface FreshnessEvent {
  readonly state: 'stale' | 'fresh';
  readonly channel: StreamChannel;
  /** Token, condition or event id; null for all markets, and for `own`. */
  readonly key: string | null;
  /**
   * Its partitions that are not live. Empty in a `stale` event where no heartbeat has confirmed the subscription in
   * time.
   */
  readonly partitions: readonly number[];
}

export interface FreshnessOptions {
  /** A subscription is stale when no heartbeat has confirmed it for this time. */
  readonly staleMs: number;
  readonly onFreshness?: ((event: FreshnessEvent) => void) | undefined;
}

interface Watched {
  /** By the monotonic clock. */
  confirmedAtMs: number;
  /** Since its last confirmation `staleMs` have passed. */
  isOverdue: boolean;
  still: readonly number[];
}

/**
 * Reports when subscriptions of a connection become stale and fresh. A connection that is replaced in time changes
 * nothing. A subscription is watched, as fresh, from its first message on: before it there is nothing that can be old.
 */
export class FreshnessWatch {
  readonly #options: FreshnessOptions;
  readonly #watched = new Map<Subscriber, Watched>();
  /** Runs while a subscription is not overdue, until the first of them would be. */
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(options: FreshnessOptions) {
    this.#options = options;
  }

  /** A message has come. */
  begin(subscriber: Subscriber): void {
    if (this.#watched.has(subscriber)) return;
    this.#watched.set(subscriber, {
      confirmedAtMs: performance.now(),
      isOverdue: false,
      still: [],
    });
    this.#setTimer();
  }

  /** A heartbeat lists it with nothing missing, and these partitions as not live. */
  confirm(subscriber: Subscriber, notLive: ReadonlySet<number>): void {
    this.begin(subscriber);
    const watched = this.#watched.get(subscriber);
    if (watched === undefined) return;
    const still =
      notLive.size === 0 ? [] : [...subscriber.partitions].filter((one) => notLive.has(one));
    const wasStale = watched.isOverdue || watched.still.length > 0;
    const isChanged = watched.isOverdue || watched.still.join() !== still.join();
    watched.confirmedAtMs = performance.now();
    watched.isOverdue = false;
    watched.still = still;
    this.#setTimer();
    if (still.length > 0 && isChanged) this.#report('stale', subscriber, still);
    else if (still.length === 0 && wasStale) this.#report('fresh', subscriber, still);
  }

  end(subscriber: Subscriber): void {
    this.#watched.delete(subscriber);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #setTimer(): void {
    if (this.#timer !== null) return;
    const waiting = [...this.#watched.values()].filter(({ isOverdue }) => !isOverdue);
    if (waiting.length === 0) return;
    const dueMs = waiting.reduce((due, one) => Math.min(due, one.confirmedAtMs), Infinity);
    const leftMs = dueMs + this.#options.staleMs - performance.now();
    this.#timer = setTimeout(() => this.#findOverdue(), Math.max(0, Math.ceil(leftMs)));
  }

  #findOverdue(): void {
    this.#timer = null;
    const dueMs = performance.now() - this.#options.staleMs;
    for (const [subscriber, watched] of [...this.#watched]) {
      if (watched.isOverdue || watched.confirmedAtMs > dueMs) continue;
      watched.isOverdue = true;
      this.#report('stale', subscriber, []);
    }
    this.#setTimer();
  }

  #report(state: 'stale' | 'fresh', { topic }: Subscriber, partitions: readonly number[]): void {
    const { onFreshness } = this.#options;
    if (onFreshness === undefined) return;
    const { channel, key } = topic;
    callGuarded(() => onFreshness({ state, channel, key, partitions }));
  }
}
