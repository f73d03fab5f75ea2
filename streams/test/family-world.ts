import { once } from 'node:events';
import type { SentCredentials } from '@pm/domain/accounts/key-verifier';
import { coversNothing } from '@pm/domain/accounts/request-hmac';
import type { HeldComment } from '@pm/domain/comments/threads';
import { Catalog } from '@pm/domain/markets/catalog';
import { Profiles } from '@pm/domain/social/profiles';
import { silentLog } from '@pm/kit/log';
import { type FamilyStream, streamOf } from '@pm/schemas/streams/channels';
import type { StreamCloseName } from '@pm/schemas/streams/codes';
import { familyMessages } from '@pm/schemas/streams/family-messages';
import { Compile } from 'typebox/compile';
import { WebSocket } from 'ws';
import { apiKey, eventEntry, marketEntry, wallet } from '../../query-api/test/in-memory.ts';
import { FamilyHub } from '../src/family/family-hub.io.ts';
import { ConnectionCounts } from '../src/protocol/connection-counts.ts';
import { ConnectionMemoryBudget } from '../src/protocol/connection-memory-budget.ts';
import { StartScheduler } from '../src/protocol/start-scheduler.io.ts';
import { StreamListener } from '../src/protocol/stream-listener.io.ts';
import { QueuedTotal } from '../src/protocol/stream-writer.io.ts';
import { FakeFeed } from './fake-feed.ts';

export const goodAuth = { apikey: apiKey(1), secret: 'secret', passphrase: 'pass' };

/** The family's streams over a fake feed on real sockets. */
export class FamilyWorld {
  readonly feed = new FakeFeed([1, 2, 3, 4]);
  readonly catalog = new Catalog();
  readonly room: ConnectionMemoryBudget;
  readonly counts: ConnectionCounts;
  readonly queued = new QueuedTotal(1 << 29);
  readonly closes: (StreamCloseName | 'left')[] = [];
  readonly commentListeners = new Set<(comment: HeldComment) => void>();
  aheadMs = 0;
  isKeyActive = true;
  isKeyKnown = true;
  proofs = 0;
  /** Wallets of the holder of every key. */
  wallets = [wallet(1), wallet(11)];
  readonly hub: FamilyHub;
  readonly listener: StreamListener;
  url = '';

  constructor(queueBytes?: number, roomBytes: number = 1 << 29) {
    this.room = new ConnectionMemoryBudget(roomBytes);
    this.counts = new ConnectionCounts(this.room);
    this.catalog.apply(eventEntry('1'));
    for (const market of [1, 2, 3]) this.catalog.apply(marketEntry(market));
    const clock = {
      nowMs: () => Date.now() + this.aheadMs,
      monotonicMs: () => performance.now() + this.aheadMs,
    };
    const parts = {
      feed: this.feed,
      catalog: this.catalog,
      profiles: new Profiles(),
      room: this.room,
      counts: this.counts,
      openings: new StartScheduler(clock, silentLog),
      queued: this.queued,
      verifyCredentials: (sent: SentCredentials) => {
        this.proofs += 1;
        const { apiKey: key, secret, passphrase } = sent;
        const isGood = key === goodAuth.apikey && secret === 'secret' && passphrase === 'pass';
        return this.isKeyKnown && isGood ? holder : null;
      },
      isActive: () => this.isKeyActive,
      walletsOf: () => this.wallets,
      keysOf: () => new Set([apiKey(1)]),
      listenToComments: (take: (comment: HeldComment) => void) => {
        this.commentListeners.add(take);
        return () => {
          this.commentListeners.delete(take);
        };
      },
      clock,
      log: silentLog,
      ...(queueBytes === undefined ? {} : { queueBytes }),
    };
    this.hub = new FamilyHub(parts, (reason) => this.closes.push(reason), 100);
    this.listener = new StreamListener({
      trustedProxies: ['127.0.0.1'],
      counts: this.counts,
      clock,
      log: silentLog,
      compresses: false,
      take: { own: () => {}, family: this.hub.add.bind(this.hub) },
      onRefused: (reason) => this.closes.push(reason),
    });
  }

  async start(): Promise<this> {
    const port = await this.listener.listen('127.0.0.1', 0);
    this.url = `ws://127.0.0.1:${port}`;
    return this;
  }

  async open(path: string, headers: Record<string, string> = {}): Promise<FamilyClient> {
    const client = new FamilyClient(`${this.url}${path}`, headers);
    await once(client.socket, 'open');
    return client;
  }

  async close(): Promise<void> {
    this.hub.close();
    await this.listener.close();
  }
}

const holder = {
  apiKey: apiKey(1),
  wallet: wallet(1),
  selfTrade: 'CANCEL_NEWEST',
  covers: coversNothing,
} as const;

type Seen = Record<string, unknown>;

const declared = Object.entries(familyMessages).map(
  ([stream, messages]) =>
    [stream, Object.values(messages).map((schema) => Compile(schema))] as const,
);
const checkersOf = new Map<string, (typeof declared)[number][1]>(declared);

/** How many declarations of the stream a frame has the form of; a text that is no JSON is itself. */
function formsOf(stream: FamilyStream | null, frame: unknown): number {
  return checkersOf.get(stream ?? '')?.filter((one) => one.Check(frame)).length ?? 0;
}

/**
 * Keeps every frame; each must have exactly one declared form of its stream, and those that are numbered must be in
 * order and of one stream.
 */
export class FamilyClient {
  readonly socket: WebSocket;
  readonly seen: Seen[] = [];
  readonly texts: string[] = [];
  /** Number of all numbered frames so far. */
  sequence = 0;
  streamId: unknown = null;
  closed: { readonly code: number; readonly reason: string } | null = null;
  problem: string | null = null;
  #wake: () => void = () => {};

  readonly #stream: FamilyStream | null;

  constructor(url: string, headers: Record<string, string>) {
    const stream = streamOf(new URL(url).pathname);
    this.#stream = stream === 'own' ? null : stream;
    this.socket = new WebSocket(url, { headers });
    this.socket.on('message', (data) => this.#take(String(data)));
    this.socket.on('error', () => {});
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
      this.#wake();
    });
  }

  send(frame: object | string): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** The next frame of the event type, or of the topic. */
  async of(type: string): Promise<Seen> {
    return this.until(`a frame ${type}`, () => {
      const place = this.seen.findIndex((one) => (one['event_type'] ?? one['topic']) === type);
      return place < 0 ? null : (this.seen.splice(place, 1)[0] ?? null);
    });
  }

  /** Resolves with the next text that is no JSON, or with an error frame. */
  text(): Promise<string> {
    return this.until('a text', () => this.texts.shift() ?? null);
  }

  async ended(): Promise<number> {
    return (await this.until('a close', () => this.closed)).code;
  }

  /** Numbered frames that have come when a PING is answered. */
  async settled(): Promise<readonly Seen[]> {
    this.send('PING');
    await this.until('PONG', () => {
      const place = this.texts.indexOf('PONG');
      return place < 0 ? null : this.texts.splice(place, 1);
    });
    return this.seen.splice(0);
  }

  async until<T>(what: string, find: () => T | null): Promise<T> {
    const endMs = Date.now() + 20_000;
    for (;;) {
      if (this.problem !== null) throw new Error(this.problem);
      const found = find();
      if (found !== null) return found;
      const leftMs = endMs - Date.now();
      if (leftMs <= 0)
        throw new Error(`never: ${what}; ${JSON.stringify(this.seen).slice(0, 900)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #take(text: string): void {
    const isObject = text.startsWith('{');
    const frame: unknown = isObject ? JSON.parse(text) : text;
    if (formsOf(this.#stream, frame) !== 1) this.problem ??= `no declared form: ${text}`;
    if (!isObject || text.startsWith('{"error"')) this.texts.push(text);
    else this.#number(frame as Seen);
    this.#wake();
  }

  #number(seen: Seen): void {
    this.sequence += 1;
    this.streamId ??= seen['stream_id'];
    const isNumbered = seen['sequence'] === this.sequence && seen['stream_id'] === this.streamId;
    if (!isNumbered || typeof seen['server_ts_ms'] !== 'number')
      this.problem ??= `not numbered: ${JSON.stringify(seen)}`;
    this.seen.push(seen);
  }
}
