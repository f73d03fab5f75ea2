import type { StreamChannel } from '@pm/schemas/streams/channels';
import type { SubscriptionSeq } from '@pm/schemas/streams/server-frames';
import { StreamGapError } from './errors.ts';
import type { DataFrame, StateFrame } from './frames.ts';

/** How a subscription turns frames into events. */
export interface FrameReader<Event> {
  /** `isGap`: messages before it are missing. */
  snapshot(frame: DataFrame, isGap: boolean): void;
  message(frame: DataFrame | StateFrame): void;
  /** Whether the state is what the exchange says it is. */
  checksum(frame: DataFrame): boolean;
  /** The next event for the consumer. */
  shift(): Event | undefined;
  /** Events that wait for the consumer. */
  readonly waiting: number;
}

/** Subject of a subscription, and the kinds of loss that its events admit. */
export interface Topic {
  readonly channel: StreamChannel;
  /** Token, condition or event id; null for all markets, and for the wallet of the key. */
  readonly key: string | null;
  /** A snapshot replaces what was missed: a gap is marked, not thrown. */
  readonly hasState: boolean;
  /** Each message has the whole state: it stands for those before it. */
  readonly isWhole: boolean;
}

/** A subscription as its connection sees it. */
export type Subscriber = Pick<
  Subscription<unknown>,
  | 'fail'
  | 'from'
  | 'hasBegun'
  | 'isPaused'
  | 'misses'
  | 'noteEpochs'
  | 'partitions'
  | 'take'
  | 'topic'
>;

/** The connection of a subscription. */
export interface Line {
  /** Requests the subscription from where it is. */
  ask(subscription: Subscriber): void;
  /** Stops its messages for a while. */
  pause(subscription: Subscriber): void;
  leave(subscription: Subscriber): void;
}

/** Events that may wait for a consumer; past it the subscription is paused, and resumed once half of them are read. */
const eventQueueMax = 10_000;

/** A place in one sequence. */
export interface SequencePosition {
  readonly seq: number;
  /** For `own`, which counts in each partition. */
  readonly partition?: number;
  /** Epoch of the log that the sequence counts; none where it was not named. */
  readonly epoch?: string;
}

type Waiter<Event> = {
  readonly resolve: (result: IteratorResult<Event, undefined>) => void;
  readonly reject: (error: Error) => void;
};

interface Place {
  readonly seq: number;
  readonly partition: number;
}

/** Wrong checksums in a row, each after a new snapshot, after which the stream gives up. */
const wrongChecksumsMax = 3;

/** One subscription: follows the sequence of its messages, and gives events to a `for await` loop. */
export class Subscription<Event> implements AsyncIterableIterator<Event, undefined> {
  readonly topic: Topic;
  readonly #reader: FrameReader<Event>;
  readonly #open: (subscription: Subscriber) => Line;
  readonly #queueMax: number;
  /** By partition for `own`, by market for all markets; else one. */
  readonly #places = new Map<string, Place>();
  readonly #epochs = new Map<number, string>();
  readonly #waiters: Waiter<Event>[] = [];
  #line: Line | null = null;
  #end: { readonly error: Error | null } | null = null;
  #isPaused = false;
  #isReturned = false;
  /** The next snapshot comes after messages that are missing. */
  #isGapDue = false;
  #wrongChecksums = 0;
  /** Sequences whose snapshot has begun and has more parts, which are taken too. `own` has one in each partition. */
  readonly #takesParts = new Set<string>();

  constructor(
    topic: Topic,
    how: {
      readonly reader: FrameReader<Event>;
      readonly open: (subscription: Subscriber) => Line;
      readonly queueMax?: number;
    },
  ) {
    this.topic = topic;
    this.#reader = how.reader;
    this.#open = how.open;
    this.#queueMax = how.queueMax ?? eventQueueMax;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Whether a message has come. */
  get hasBegun(): boolean {
    return this.#places.size > 0;
  }

  /** Partitions of the matcher that its messages came from; those of comments are of another topic. */
  get partitions(): ReadonlySet<number> {
    if (this.topic.channel === 'comments') return new Set();
    return new Set([...this.#places.values()].map(({ partition }) => partition));
  }

  /** From where the exchange has to go on; none before the first snapshot. */
  get from(): readonly SequencePosition[] {
    const { channel, key } = this.topic;
    if (channel === 'markets' && key === null) return [];
    return [...this.#places.values()].map(({ seq, partition }) => {
      const epoch = this.#epochs.get(partition);
      const of = epoch === undefined ? {} : { epoch };
      return channel === 'own' ? { seq, partition, ...of } : { seq, ...of };
    });
  }

  /** Whether messages up to `seq` that the exchange has sent are missing here. */
  misses({ key, partition, seq }: SubscriptionSeq): boolean {
    if (this.#isPaused || this.#end !== null) return false;
    const { channel } = this.topic;
    if (channel === 'markets' && this.topic.key === null) return seq > this.#sumOf(partition);
    const name = this.topic.key !== null ? '' : channel === 'own' ? String(partition) : key;
    // Its snapshot is on its way: the parts have one number, which holds with the last of them.
    if (this.#takesParts.has(name)) return false;
    return seq > (this.#places.get(name)?.seq ?? 0);
  }

  /** All markets of a partition count as one: their newest numbers together. */
  #sumOf(partition: number | undefined): number {
    let sum = 0;
    for (const place of this.#places.values()) if (place.partition === partition) sum += place.seq;
    return sum;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Event, undefined>> {
    if (this.#end === null && this.#line === null) this.#line = this.#open(this);
    const event = this.#isReturned ? undefined : this.#reader.shift();
    if (event !== undefined) {
      this.#resumeIfRead();
      return { value: event, done: false };
    }
    const end = this.#end;
    if (end === null) {
      return await new Promise((resolve, reject) => {
        this.#waiters.push({ resolve, reject });
      });
    }
    // The error is thrown once; then the iteration is over.
    this.#end = { error: null };
    if (end.error !== null) throw end.error;
    return { value: undefined, done: true };
  }

  /** Ends the subscription. */
  async return(): Promise<IteratorResult<Event, undefined>> {
    this.#isReturned = true;
    this.#finish(null);
    return { value: undefined, done: true };
  }

  fail(error: Error): void {
    this.#finish(error);
  }

  /** A data frame; `lost` when messages before it are missing, so that the subscription must be requested again. */
  take(frame: DataFrame | StateFrame): 'fine' | 'lost' {
    if (this.#end !== null || this.#isPaused) return 'fine';
    const taken = this.#taken(frame);
    this.#deliver();
    return taken;
  }

  /**
   * Epochs of the logs as the exchange reports them when it is connected or the subscription joins: positions in a
   * replaced log mean nothing.
   */
  noteEpochs(epochs: ReadonlyMap<number, string>): void {
    // A snapshot ends with its connection.
    this.#takesParts.clear();
    // Positions of comments are of another topic, which has no epoch.
    if (this.topic.channel === 'comments') return;
    for (const [name, { seq, partition }] of this.#places) {
      const [known, epoch] = [this.#epochs.get(partition), epochs.get(partition)];
      if (known === undefined || epoch === undefined || known === epoch) continue;
      this.#places.delete(name);
      if (!this.topic.hasState) {
        this.fail(this.#gapAfter(seq, null));
        return;
      }
      this.#isGapDue = true;
    }
    for (const [partition, epoch] of epochs) this.#epochs.set(partition, epoch);
  }

  #taken(frame: DataFrame | StateFrame): 'fine' | 'lost' {
    if (frame.type === 'checksum') return this.#compare(frame);
    if (frame.type !== 'state') return this.#follow(frame);
    this.#reader.message(frame);
    return 'fine';
  }

  #follow(frame: DataFrame): 'fine' | 'lost' {
    const name = this.#sequenceOf(frame);
    const place = this.#places.get(name);
    if (frame.type === 'snapshot') {
      if (this.#isPart(frame, name, place)) return 'fine';
    } else {
      if (place !== undefined && frame.seq <= place.seq) return 'fine';
      if (!this.#continues(frame, place)) return 'lost';
      this.#reader.message(frame);
    }
    // A snapshot of an instance that has not read as far replaces nothing.
    if (frame.seq >= (this.#places.get(name)?.seq ?? -1)) {
      this.#places.set(name, { seq: frame.seq, partition: frame.at.partition });
    }
    return 'fine';
  }

  /** Takes a snapshot, or a part of one; true when more parts follow, so that its number does not hold yet. */
  #isPart(frame: DataFrame, name: string, place: Place | undefined): boolean {
    const isFirst = (frame.part ?? 0) === 0;
    if (isFirst && this.#restart(frame, place)) this.#takesParts.add(name);
    else if (isFirst) this.#takesParts.delete(name);
    else if (this.#takesParts.has(name)) this.#reader.snapshot(frame, false);
    if (frame.more === true) return true;
    this.#takesParts.delete(name);
    return false;
  }

  /** Whether the snapshot is taken; without a gap a known place goes on instead. */
  #restart(frame: DataFrame, place: Place | undefined): boolean {
    const isAhead = place !== undefined && frame.seq > place.seq;
    const isGap = frame.gap === true || this.#isGapDue || isAhead;
    if (!isGap && place !== undefined) return false;
    if (isGap && !this.topic.hasState) {
      this.fail(this.#gapAfter(place?.seq ?? 0, frame.seq));
      return false;
    }
    this.#isGapDue = false;
    // Its number holds when it is whole, also a lower one: that of a replaced log.
    this.#places.delete(this.#sequenceOf(frame));
    this.#reader.snapshot(frame, isGap);
    return true;
  }

  #continues(frame: DataFrame, place: Place | undefined): boolean {
    const { isWhole } = this.topic;
    const prev = frame.prev ?? frame.seq - 1;
    if (place !== undefined) return isWhole || prev <= place.seq;
    // Without a snapshot only the first message of a sequence can be followed.
    return this.#places.size > 0 && (isWhole || prev === 0);
  }

  #compare(frame: DataFrame): 'fine' | 'lost' {
    const place = this.#places.get(this.#sequenceOf(frame));
    if (place === undefined || frame.seq < place.seq) return 'fine';
    if (frame.seq > place.seq) return 'lost';
    if (this.#reader.checksum(frame)) {
      this.#wrongChecksums = 0;
      return 'fine';
    }
    this.#wrongChecksums += 1;
    if (this.#wrongChecksums >= wrongChecksumsMax) {
      this.fail(new Error(`the checksum of ${this.topic.channel} ${this.topic.key} stays wrong`));
      return 'fine';
    }
    // The next request is for a new snapshot.
    this.#places.clear();
    this.#isGapDue = true;
    return 'lost';
  }

  #sequenceOf(frame: DataFrame): string {
    if (this.topic.key !== null) return '';
    return this.topic.channel === 'own' ? String(frame.at.partition) : (frame.market ?? '');
  }

  #deliver(): void {
    while (this.#waiters.length > 0) {
      const event = this.#reader.shift();
      if (event === undefined) break;
      this.#waiters.shift()?.resolve({ value: event, done: false });
    }
    if (this.#end !== null || this.#isPaused || this.#reader.waiting < this.#queueMax) return;
    this.#isPaused = true;
    this.#line?.pause(this);
  }

  #resumeIfRead(): void {
    if (!this.#isPaused || this.#end !== null || this.#reader.waiting > this.#queueMax / 2) return;
    this.#isPaused = false;
    this.#line?.ask(this);
  }

  #gapAfter(afterSeq: number, nextSeq: number | null): StreamGapError {
    const { channel, key } = this.topic;
    return new StreamGapError({ channel, key: key ?? 'all' }, { afterSeq, nextSeq });
  }

  #finish(error: Error | null): void {
    if (this.#end !== null) return;
    const [first, ...others] = this.#waiters.splice(0);
    // An error that a waiting consumer gets is not thrown again.
    this.#end = { error: first === undefined ? error : null };
    if (error === null) first?.resolve({ value: undefined, done: true });
    else first?.reject(error);
    for (const { resolve } of others) resolve({ value: undefined, done: true });
    this.#line?.leave(this);
  }
}
