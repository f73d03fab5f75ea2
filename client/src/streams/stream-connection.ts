import type { StreamChannel } from '@pm/schemas/streams/channels';
import type {
  ErrorFrame,
  HeartbeatFrame,
  SubscribedFrame,
  WelcomeFrame,
} from '@pm/schemas/streams/server-frames';
import { ExchangeError } from '../errors.ts';
import { RetryBudget, type RetryPolicy } from '../retry.ts';
import type { authFrame } from './auth-frame.ts';
import { type Ending, endingOf } from './ending.ts';
import { StreamRefusedError } from './errors.ts';
import { type DataFrame, parseFrame, type StateFrame } from './frames.ts';
import { type FreshnessOptions, FreshnessWatch } from './freshness.ts';
import { keyNames, keyOf, nameOf } from './keys.ts';
import { Pacer } from './pacer.ts';
import { Requests } from './requests.ts';
import { openSocket, type Socket } from './socket.ts';
import type { Line, Subscriber } from './subscription.ts';

export interface StreamConnectionOptions extends FreshnessOptions {
  /** `ws:` or `wss:` address of the streams. */
  readonly url: string;
  readonly retry: RetryPolicy;
  /** A connection without any frame for so long is replaced; the exchange sends a heartbeat each second. */
  readonly silenceMs: number;
  /** The exchange sends heartbeats of the key while the connection is open (sessions.md). */
  readonly cancelOnDisconnect: boolean;
  /** Proves the API key on a connection with this `stream_id` at a time of the exchange (`authFrame`). */
  readonly authFrame: (streamId: string, nowMs: number) => Readonly<ReturnType<typeof authFrame>>;
}

/** Time for a connection to open. */
const openTimeoutMs = 10_000;
/** Below the burst and rate that the exchange allows (limits.md). */
const framesPerSecond = 18;

/** Its rows in a heartbeat: messages are missing, or wait there to be sent, or all that were sent have come. */
type Listed = 'lost' | 'waiting' | 'whole';

/**
 * One WebSocket connection with its subscriptions. It exists while there are any, is replaced when it ends or is
 * silent, and then requests each from where it was. Subscriptions fail when the retry budget of an outage ends.
 */
export class StreamConnection implements Line {
  readonly #options: StreamConnectionOptions;
  readonly #subscriptions = new Map<string, Subscriber>();
  readonly #requests = new Requests();
  readonly #freshness: FreshnessWatch;
  /** Epoch of the log of each partition, as far as the exchange has named it. */
  readonly #epochs = new Map<number, string>();
  /** First retryable refusal of a subscription since it was last accepted. */
  readonly #refusedAtMs = new Map<Subscriber, number>();
  #socket: Socket | null = null;
  #pacer: Pacer | null = null;
  #isWelcome = false;
  #isLive = false;
  #standingStill: ReadonlySet<number> | null = null;
  #isAuthenticated = false;
  #authId: number | null = null;
  #streamId = '';
  /** The time of the exchange minus the monotonic time here. */
  #clockMs = 0;
  #isRunning = false;
  #ids = 0;
  #silence: ReturnType<typeof setTimeout> | null = null;
  #onEnd: (ending: Omit<Ending, 'wasLive'>) => void = () => undefined;
  #wake: (() => void) | null = null;

  constructor(options: StreamConnectionOptions) {
    this.#options = options;
    this.#freshness = new FreshnessWatch(options);
  }

  get cancelsOnDisconnect(): boolean {
    return this.#options.cancelOnDisconnect;
  }

  get isEmpty(): boolean {
    return this.#subscriptions.size === 0;
  }

  /** Partitions that are not live by the newest heartbeat of the connection; null without one. */
  get standingStill(): ReadonlySet<number> | null {
    return this.#standingStill;
  }

  has(subscription: Subscriber): boolean {
    return this.#subscriptions.has(nameOf(subscription));
  }

  join(subscription: Subscriber): void {
    this.#subscriptions.set(nameOf(subscription), subscription);
    subscription.noteEpochs(this.#epochs);
    this.ask(subscription);
  }

  leave(subscription: Subscriber): void {
    if (this.#subscriptions.get(nameOf(subscription)) !== subscription) return;
    this.pause(subscription);
    this.#subscriptions.delete(nameOf(subscription));
    this.#refusedAtMs.delete(subscription);
    this.#freshness.end(subscription);
    if (this.#subscriptions.size > 0) return;
    this.#wake?.();
    this.#onEnd({ error: new Error('no subscription is left'), isFinal: false });
  }

  pause(subscription: Subscriber): void {
    this.#requests.forget(subscription);
    if (this.#isWelcome) this.#send({ op: 'unsubscribe', ...this.#named(subscription) });
  }

  ask(subscription: Subscriber): void {
    if (!this.#isRunning) {
      this.#isRunning = true;
      void this.#run();
      return;
    }
    if (!this.#isWelcome) return;
    if (subscription.topic.channel === 'own' && !this.#isAuthenticated) {
      this.#authenticate();
      return;
    }
    this.#requests.forget(subscription);
    const { from } = subscription;
    const position = from.length === 0 ? {} : { from: isSingle(subscription) ? from[0] : from };
    const id = this.#send({ op: 'subscribe', ...this.#named(subscription), ...position });
    this.#requests.add(id, subscription);
  }

  /** Connects while there is a subscription that wants messages. */
  async #run(): Promise<void> {
    let retryBudget = new RetryBudget(this.#options.retry);
    while (this.#isWanted()) {
      const ending = await this.#session();
      if (!this.#isWanted()) break;
      if (ending.wasLive) retryBudget = new RetryBudget(this.#options.retry);
      if (!ending.isFinal && (await this.#mayRetry(retryBudget))) continue;
      for (const subscription of [...this.#subscriptions.values()]) subscription.fail(ending.error);
    }
    this.#isRunning = false;
  }

  #isWanted(): boolean {
    return [...this.#subscriptions.values()].some(({ isPaused }) => !isPaused);
  }

  /** True at once when no subscription is left. */
  #mayRetry(retryBudget: RetryBudget): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(true);
      retryBudget.next(null).then(resolve, reject);
    });
  }

  /** One connection, from its opening to its end. */
  async #session(): Promise<Ending> {
    this.#isLive = false;
    let ended: Omit<Ending, 'wasLive'> | null = null;
    let onEnded: () => void = () => undefined;
    this.#onEnd = (ending) => {
      ended ??= ending;
      onEnded();
    };
    try {
      const socket = await openSocket(this.#options.url, openTimeoutMs);
      this.#socket = socket;
      this.#pacer = new Pacer((text) => socket.send(text), framesPerSecond);
      this.#listen();
      socket.listen({
        onText: (text) => this.#receive(text),
        onClose: (code, reason) => this.#onEnd(endingOf(code, reason)),
      });
      if (ended === null) {
        await new Promise<void>((resolve) => {
          onEnded = resolve;
        });
      }
    } catch (error) {
      ended = { error: error as Error, isFinal: !(error instanceof ExchangeError) };
    }
    this.#endSession();
    return { ...(ended ?? endingOf(1006, '')), wasLive: this.#isLive };
  }

  #endSession(): void {
    if (this.#silence !== null) clearTimeout(this.#silence);
    this.#pacer?.stop();
    this.#socket?.drop();
    this.#pacer = null;
    this.#socket = null;
    this.#isWelcome = false;
    this.#isAuthenticated = false;
    this.#authId = null;
    this.#standingStill = null;
    this.#requests.clear();
  }

  /** Waits for the next frame. */
  #listen(): void {
    if (this.#silence !== null) clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      const error = `no frame of the stream for ${this.#options.silenceMs} ms`;
      this.#onEnd({
        error: new ExchangeError(0, { error, code: 'no_answer' }),
        isFinal: false,
      });
    }, this.#options.silenceMs);
  }

  #receive(text: string): void {
    this.#listen();
    const frame = parseFrame(text);
    switch (frame?.type) {
      case 'welcome':
        this.#welcome(frame);
        break;
      case 'heartbeat':
        this.#compare(frame);
        break;
      case 'authenticated':
        this.#isAuthenticated = true;
        this.#askAll('own');
        break;
      case 'subscribed':
        this.#accepted(frame);
        break;
      case 'error':
        this.#refused(frame);
        break;
      case 'closing':
        this.#onEnd(endingOf(frame.code, frame.reason));
        break;
      case 'snapshot':
      case 'delta':
      case 'event':
      case 'checksum':
      case 'state':
        this.#deliver(frame);
        break;
      default:
    }
  }

  #welcome({ partitions, stream_id, time }: WelcomeFrame): void {
    this.#isWelcome = true;
    this.#streamId = stream_id;
    this.#clockMs = time - performance.now();
    for (const { partition, epoch } of partitions) {
      if (epoch !== null) this.#epochs.set(partition, epoch);
    }
    for (const subscription of this.#subscriptions.values()) subscription.noteEpochs(this.#epochs);
    this.#askAll(null);
  }

  #askAll(channel: StreamChannel | null): void {
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.isPaused) continue;
      if (channel === null || subscription.topic.channel === channel) this.ask(subscription);
    }
  }

  #authenticate(): void {
    if (this.#authId !== null) return;
    // A proof is refused without a word on clocks, so it has the time of who judges it.
    const nowMs = Math.round(this.#clockMs + performance.now());
    this.#authId = this.#send(this.#options.authFrame(this.#streamId, nowMs));
  }

  #accepted({ id }: SubscribedFrame): void {
    const subscription = this.#requests.at(id);
    if (subscription === undefined) return;
    this.#refusedAtMs.delete(subscription);
    this.#requests.accept(id);
  }

  /** A refused subscription is requested again with the next heartbeats, until the retry budget ends. */
  #refused({ id, code, message, retryable }: ErrorFrame): void {
    const error = new StreamRefusedError(code, message);
    if (id !== null && id === this.#authId) {
      this.#authId = null;
      if (!retryable) this.#subscriptions.get('own ')?.fail(error);
      return;
    }
    const subscription = id === null ? undefined : this.#requests.at(id);
    if (subscription === undefined) return;
    const nowMs = performance.now();
    const sinceMs = this.#refusedAtMs.get(subscription) ?? nowMs;
    this.#refusedAtMs.set(subscription, sinceMs);
    const isOver = nowMs - sinceMs >= this.#options.retry.totalMs;
    if (!retryable || isOver) subscription.fail(error);
  }

  #deliver(frame: DataFrame | StateFrame): void {
    this.#isLive = true;
    const subscription = this.#subscriptionOf(frame);
    if (subscription === undefined) return;
    const isLost = subscription.take(frame) === 'lost';
    this.#requests.renew(subscription);
    if (subscription.hasBegun) {
      this.#requests.settle(subscription);
      this.#freshness.begin(subscription);
    }
    if (isLost && !this.#requests.has(subscription)) this.#askAgain(subscription);
  }

  #subscriptionOf(frame: DataFrame | StateFrame): Subscriber | undefined {
    const key = frame.type === 'state' ? '' : keyOf(frame);
    return this.#subscriptionTo(frame.channel, key);
  }

  #subscriptionTo(channel: StreamChannel, key: string): Subscriber | undefined {
    const found = this.#subscriptions.get(`${channel} ${key}`);
    // All markets, and the wallet of the key.
    return found ?? this.#subscriptions.get(`${channel} `);
  }

  /**
   * Messages that a heartbeat counts and that did not arrive are lost, as are requests without an answer; a
   * subscription that it does not list has ended.
   */
  #compare({ subscriptions, partitions }: HeartbeatFrame): void {
    this.#isLive = true;
    const stopped = partitions.filter(({ live }) => !live).map(({ partition }) => partition);
    const still = new Set(stopped);
    this.#standingStill = still;
    this.#checkAuthentication();
    const listed = this.#listed(subscriptions);
    for (const [subscription, found] of listed) {
      // One that is listed and has missed nothing waits for its turn.
      if (found !== 'lost') this.#requests.renew(subscription);
      if (found !== 'whole' || !subscription.hasBegun) continue;
      this.#freshness.confirm(subscription, still);
    }
    const { silenceMs } = this.#options;
    for (const subscription of this.#requests.unanswered(silenceMs)) this.#askAgain(subscription);
    this.#askMissing(listed);
  }

  #listed(rows: HeartbeatFrame['subscriptions']): ReadonlyMap<Subscriber, Listed> {
    const listed = new Map<Subscriber, Listed>();
    for (const row of rows) {
      const subscription = this.#subscriptionTo(row.channel, row.key);
      if (subscription === undefined) continue;
      const before = listed.get(subscription) ?? 'whole';
      if (before === 'lost' || subscription.misses(row)) listed.set(subscription, 'lost');
      else listed.set(subscription, row.waiting === true ? 'waiting' : before);
    }
    return listed;
  }

  #askMissing(listed: ReadonlyMap<Subscriber, Listed>): void {
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.isPaused || this.#requests.has(subscription)) continue;
      const found = listed.get(subscription);
      if (found === 'lost') this.#askAgain(subscription);
      else if (found === undefined) this.ask(subscription);
    }
  }

  #checkAuthentication(): void {
    // A refused proof is made again.
    const own = this.#subscriptions.get('own ');
    if (own !== undefined && !this.#isAuthenticated && this.#authId === null) this.#authenticate();
  }

  #askAgain(subscription: Subscriber): void {
    this.#requests.forget(subscription);
    this.#send({ op: 'unsubscribe', ...this.#named(subscription) });
    this.ask(subscription);
  }

  #named({ topic: { channel, key } }: Subscriber): Record<string, unknown> {
    const name = keyNames[channel];
    return name === null || key === null ? { channel } : { channel, [name]: [key] };
  }

  #send(frame: { readonly op: string; readonly [field: string]: unknown }): number {
    this.#ids += 1;
    this.#pacer?.send(JSON.stringify({ ...frame, id: this.#ids }));
    return this.#ids;
  }
}

const isSingle = ({ topic }: Subscriber): boolean => topic.channel !== 'own';
