import type { Clock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import type { StreamErrorCode } from '@pm/schemas/streams/codes';
import type { FeedChange } from '../feed/changes.ts';
import type { FeedReplay } from '../feed/replay-plan.ts';
import type { FirstMessages, Message } from './message.ts';
import type { PendingMessages } from './pending-messages.io.ts';
import type { RenderFacts, SnapshotSource } from './publication.ts';
import type { Replayer, ReplayPlaces } from './replay-places.ts';
import { renderReplayed } from './replayed.ts';
import type { StartScheduler, StartTask } from './start-scheduler.io.ts';
import type { StreamWriter } from './stream-writer.io.ts';
import type { Subscription } from './subscription.io.ts';

/** A snapshot of more messages holds a copy of its state, and needs a place as a replay does. */
const smallMessages = 8;
/** A reader that takes nothing of a beginning for so long is too slow, milliseconds. */
const stallMaxMs = 30_000;
/** Messages, or bytes of them, that one step sends. */
const stepMessages = 50;
const stepBytes = 64 * 1024;

/** How a resumed subscription began: out of the log, with what is in memory or a snapshot, or not at all. */
export type ResumeResult = 'replayed' | 'snapshot' | 'failed';

export interface SubscriptionStarterParts {
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>;
  readonly facts: RenderFacts;
  readonly openings: StartScheduler;
  readonly places: ReplayPlaces;
  /** A subscription was to be resumed. */
  resumed(outcome: ResumeResult): void;
  readonly log: Log;
}

/** Parts of a connection that the start of its subscriptions uses. */
export interface SubscriptionStarterOwner {
  readonly replayer: Replayer;
  readonly writer: StreamWriter;
  readonly pending: PendingMessages;
  /** The checksum of a book as it is now; null while its partition is not caught up. */
  checksum(subscription: Subscription): Message | null;
  /** The log does not give what was asked for: the subscription ends. */
  failed(subscription: Subscription, code: StreamErrorCode): void;
}

/** Messages that can be sent without waiting. */
type Page = Pick<FirstMessages, 'count' | 'message'>;

/** The beginning of a subscription that is being sent. */
interface Sending {
  readonly subscription: Subscription;
  readonly toSeq: number;
  page: Page;
  /** Messages of the page that are sent. */
  sent: number;
  hasSent: boolean;
  /** Reads the next page; null after the last one. */
  next: (() => Promise<Page | null>) | null;
  /** Gives up what the beginning holds. */
  end(): void;
}

const nothing = (): void => {};
const noPage: Page = { count: 0, message: () => null };

/**
 * Sends what the subscriptions of one connection begin with, one after the other, as the reader takes it. Nothing is
 * read before its turn: a thousand subscriptions that wait cost no more than their names.
 */
export class SubscriptionStarter implements StartTask {
  readonly #parts: SubscriptionStarterParts;
  readonly #owner: SubscriptionStarterOwner;
  /** Subscriptions that begin with a snapshot. */
  readonly #line = new Set<Subscription>();
  /** Subscriptions that wait for a place: resumed ones, and large snapshots. */
  readonly #resumes = new Set<Subscription>();
  /** Subscriptions that have a place, with the function that gives it back. */
  readonly #placed = new Map<Subscription, () => void>();
  /** Books whose checksums were asked for: each takes as long as a snapshot. */
  readonly #checksums = new Set<Subscription>();
  readonly #sending = new Set<Sending>();
  #isAsking = false;
  /** Ends the wait for a place. */
  #stopAsking: () => void = nothing;
  /** Since when the reader takes nothing; null when it need not. */
  #parkedAtMs: number | null = null;

  constructor(parts: SubscriptionStarterParts, owner: SubscriptionStarterOwner) {
    this.#parts = parts;
    this.#owner = owner;
  }

  /** Nothing after the end: the answer to a frame may be what ends its connection. */
  add(subscriptions: readonly Subscription[]): void {
    if (this.#owner.writer.isEnded) return;
    for (const subscription of subscriptions) {
      if (subscription.start === null) this.#line.add(subscription);
      else this.#resumes.add(subscription);
    }
    if (this.#line.size > 0) this.#parts.openings.add(this);
    this.#ask();
  }

  addChecksums(subscriptions: readonly Subscription[]): void {
    for (const subscription of subscriptions) this.#checksums.add(subscription);
    this.#parts.openings.add(this);
  }

  forget(subscription: Subscription): void {
    this.#line.delete(subscription);
    this.#checksums.delete(subscription);
    this.#resumes.delete(subscription);
    const leave = this.#placed.get(subscription);
    this.#placed.delete(subscription);
    leave?.();
    for (const sending of this.#sending)
      if (sending.subscription === subscription) this.#end(sending);
  }

  /** The connection is closed. */
  close(): void {
    this.#parts.openings.remove(this);
    this.#line.clear();
    this.#resumes.clear();
    this.#checksums.clear();
    for (const leave of this.#placed.values()) leave();
    this.#placed.clear();
    for (const sending of this.#sending) this.#end(sending);
    this.#stopAsking();
  }

  /** Once a second: a reader that takes nothing must not hold a place. */
  tick(): void {
    const { clock } = this.#parts;
    if (this.#parkedAtMs === null || this.#sending.size + this.#placed.size === 0) return;
    if (clock.monotonicMs() - this.#parkedAtMs >= stallMaxMs) this.#owner.writer.overflow();
  }

  step(): boolean {
    const { writer } = this.#owner;
    if (writer.isEnded || this.#parkedAtMs !== null) return false;
    if (writer.isBusy) {
      this.#park();
      return false;
    }
    const [placed] = this.#placed;
    const [asked] = this.#checksums;
    if (asked !== undefined) this.#sendChecksum(asked);
    else if (placed !== undefined) this.#startPlaced(...placed);
    else {
      const sending = this.#nextReady() ?? this.#startNext();
      if (sending !== null) this.#sendSome(sending);
    }
    const waiting = this.#checksums.size + this.#placed.size + this.#line.size;
    return waiting > 0 || this.#nextReady() !== null;
  }

  #sendChecksum(subscription: Subscription): void {
    this.#checksums.delete(subscription);
    const message = subscription.phase === 'live' ? this.#owner.checksum(subscription) : null;
    if (message !== null) this.#owner.writer.send(message, subscription);
  }

  #park(): void {
    this.#parkedAtMs = this.#parts.clock.monotonicMs();
    this.#owner.writer.whenDrained(() => {
      this.#parkedAtMs = null;
      this.#parts.openings.add(this);
    });
  }

  /** One whose page is there. */
  #nextReady(): Sending | null {
    for (const sending of this.#sending) if (sending.sent < sending.page.count) return sending;
    return null;
  }

  #startNext(): Sending | null {
    const [subscription] = this.#line;
    if (subscription === undefined) return null;
    this.#line.delete(subscription);
    const first = this.#read(subscription, (beginner, { isGap, start }) =>
      beginner.snapshot(isGap || start !== null),
    );
    if (first === null) return null;
    if (first.count <= smallMessages) return this.#start(subscription, first);
    // Read again once there is a place.
    this.#resumes.add(subscription);
    this.#ask();
    return null;
  }

  /**
   * First messages of a subscription as they are now; null when they cannot be read: then the subscription has ended.
   */
  #read<T>(
    subscription: Subscription,
    read: (beginner: SnapshotSource, subscription: Subscription) => T | null,
  ): T | null {
    try {
      const found = read(subscription.publication.beginner, subscription);
      if (found === null) this.#owner.failed(subscription, 'unavailable');
      return found;
    } catch (error) {
      this.#fail(subscription, error);
      return null;
    }
  }

  #start(subscription: Subscription, page: FirstMessages, end: () => void = nothing): Sending {
    subscription.phase = 'beginning';
    const { isGap, start } = subscription;
    if (isGap || start !== null) this.#parts.resumed('snapshot');
    const counts = { sent: 0, hasSent: false };
    const sending = { subscription, toSeq: page.seq, page, ...counts, next: null, end };
    this.#sending.add(sending);
    return sending;
  }

  #sendSome(sending: Sending): void {
    const { subscription, page } = sending;
    try {
      this.#sendPart(sending);
    } catch (error) {
      this.#fail(subscription, error);
      return;
    }
    if (sending.sent >= page.count && !subscription.isEnded) this.#turn(sending);
  }

  #sendPart(sending: Sending): void {
    const { writer } = this.#owner;
    const { subscription, page } = sending;
    let bytes = 0;
    for (let count = 0; count < stepMessages && bytes < stepBytes; count += 1) {
      if (sending.sent >= page.count || subscription.isEnded || writer.isBusy) break;
      const message = page.message(sending.sent);
      sending.sent += 1;
      if (message === null) continue;
      sending.hasSent = true;
      bytes += message.bytes.length;
      writer.send(message, subscription);
    }
  }

  /** A page is sent: the next one, or what came meanwhile. */
  #turn(sending: Sending): void {
    const { subscription, toSeq, next } = sending;
    if (next !== null) {
      void this.#load(sending, next);
      return;
    }
    this.#end(sending);
    subscription.phase = 'live';
    // Otherwise the socket says it, once it has the last of them.
    if (!sending.hasSent) subscription.sentSeq ??= toSeq;
    this.#owner.pending.release(subscription, toSeq);
  }

  async #load(sending: Sending, next: () => Promise<Page | null>): Promise<void> {
    const { subscription } = sending;
    try {
      const page = await next();
      if (subscription.isEnded) return;
      if (page === null) {
        sending.next = null;
        this.#turn(sending);
        return;
      }
      sending.page = page;
      sending.sent = 0;
      this.#parts.openings.add(this);
    } catch (error) {
      if (!subscription.isEnded) this.#fail(subscription, error);
    }
  }

  #fail(subscription: Subscription, error: unknown): void {
    this.#parts.log.warn({ err: error }, 'a subscription was not begun');
    if (subscription.start !== null) this.#parts.resumed('failed');
    const isLost = error instanceof Fault && error.reaction === 'stop';
    this.#owner.failed(subscription, isLost ? 'not_resumable' : 'unavailable');
  }

  #end(sending: Sending): void {
    this.#sending.delete(sending);
    sending.end();
  }

  /** Asks for the place of one resume at a time. */
  #ask(): void {
    if (this.#isAsking || this.#resumes.size === 0) return;
    this.#isAsking = true;
    let hasPlace = false;
    const stop = this.#parts.places.take(this.#owner.replayer, (leave) => {
      hasPlace = true;
      this.#isAsking = false;
      this.#stopAsking = nothing;
      this.#place(leave);
      this.#ask();
    });
    if (!hasPlace) this.#stopAsking = stop;
  }

  #place(leave: () => void): void {
    const [subscription] = this.#resumes;
    if (subscription === undefined) {
      leave();
      return;
    }
    this.#resumes.delete(subscription);
    this.#placed.set(subscription, leave);
    this.#parts.openings.add(this);
  }

  #startPlaced(subscription: Subscription, leave: () => void): void {
    this.#placed.delete(subscription);
    // A position that is too far back by now has missed messages: a snapshot says so.
    const first = this.#read(
      subscription,
      (beginner, { start, isGap }) =>
        (start === null ? null : beginner.replay(start)) ??
        beginner.snapshot(isGap || start !== null),
    );
    if (first === null) leave();
    else if ('pages' in first) this.#replay(subscription, first, leave);
    else {
      const sending = this.#start(subscription, first, leave);
      if (first.count === 0) this.#turn(sending);
    }
  }

  #replay(subscription: Subscription, { toSeq, pages }: FeedReplay, leave: () => void): void {
    const iterator = pages[Symbol.asyncIterator]();
    let lastSeq = subscription.sentSeq;
    const message = (change: FeedChange | undefined): Message | null => {
      if (change === undefined) return null;
      const shown = { facts: this.#parts.facts, lastSeq };
      lastSeq = change.seq;
      return renderReplayed(change, subscription.publication, shown);
    };
    const next = async (): Promise<Page | null> => {
      const { value, done } = await iterator.next();
      if (done === true) return null;
      return { count: value.length, message: (index) => message(value[index]) };
    };
    const end = () => {
      leave();
      void iterator.return?.();
    };
    this.#parts.resumed('replayed');
    subscription.phase = 'beginning';
    const counts = { sent: 0, hasSent: false };
    const sending: Sending = { subscription, toSeq, page: noPage, ...counts, next, end };
    this.#sending.add(sending);
    void this.#load(sending, next);
  }
}
