import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { coversNothing } from '@pm/domain/accounts/request-hmac';
import { CommentThreads } from '@pm/domain/comments/threads';
import { TransferTotals } from '@pm/domain/ledger/transfer-totals';
import { Catalog } from '@pm/domain/markets/catalog';
import { Profiles } from '@pm/domain/social/profiles';
import { MemoryTransfers } from '@pm/domain/testing/memory-transfers';
import { systemClock } from '@pm/kit/clock';
import { silentLog } from '@pm/kit/log';
import { Random } from '@pm/kit/random';
import { microText, priceText } from '@pm/schemas/decimal';
import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { Execution } from '@pm/schemas/log/executions';
import { WebSocket } from 'ws';
import { runLength } from '../../kit/test/long-runs.ts';
import { apiKey, eventEntry, marketEntry, token } from '../../query-api/test/in-memory.ts';
import { CommentFeed } from '../src/comments/comment-feed.ts';
import { Feed } from '../src/feed/feed.io.ts';
import { PartitionFeed } from '../src/feed/partition-feed.ts';
import { OwnStates } from '../src/own/own-states.ts';
import { ConnectionCounts } from '../src/protocol/connection-counts.ts';
import { ConnectionMemoryBudget } from '../src/protocol/connection-memory-budget.ts';
import { ReplayPlaces } from '../src/protocol/replay-places.ts';
import { StartScheduler } from '../src/protocol/start-scheduler.io.ts';
import { StreamHub } from '../src/protocol/stream-hub.io.ts';
import { StreamListener } from '../src/protocol/stream-listener.io.ts';
import { QueuedTotal } from '../src/protocol/stream-writer.io.ts';
import { engineLog, logPartition } from './feed/engine-log.ts';
import { executionCodec, MemoryClient } from './feed/memory-client.ts';

const cuts = runLength({ test: 25, deep: 1_000 });
const recordsPerCut = 8;

/** The stream service over a log in memory, with a folder of its own. */
class Instance {
  readonly #feed: Feed;
  readonly #hub: StreamHub;
  readonly #listener: StreamListener;
  url = '';

  constructor(log: MemoryClient, directory: string, catalog: Catalog) {
    const clock = systemClock;
    const room = new ConnectionMemoryBudget(1 << 29);
    const counts = new ConnectionCounts(room);
    // Cuts open more connections in a minute than one address may.
    counts.open = () => true;
    const executions = { client: log.client, codec: executionCodec, topic: 'executions' };
    const saves = { everyRecords: 200, everyMs: 60_000 };
    this.#feed = new Feed({ executions, directory, saves, clock, log: silentLog });
    this.#hub = new StreamHub({
      feed: this.#feed,
      facts: { catalog, profiles: new Profiles(), secret: Buffer.alloc(32, 1) },
      comments: new CommentFeed(new CommentThreads(), catalog),
      ownStates: new OwnStates(new TransferTotals(new MemoryTransfers())),
      room,
      counts,
      openings: new StartScheduler(clock, silentLog),
      places: new ReplayPlaces(),
      resumed: () => {},
      queued: new QueuedTotal(1 << 29),
      verify: ({ headers }) => ({
        apiKey: apiKey(1),
        wallet: String(headers['wallet']) as WalletAddress,
        selfTrade: 'CANCEL_NEWEST' as const,
        covers: { ...coversNothing, query: true },
      }),
      isActive: () => true,
      keepAlives: { hold: () => ({ release: () => {} }) },
      clock,
      log: silentLog,
      onClosed: () => {},
    });
    this.#listener = new StreamListener({
      trustedProxies: [],
      counts,
      clock,
      log: silentLog,
      compresses: false,
      take: { own: this.#hub.add.bind(this.#hub), family: null },
      onRefused: () => {},
    });
  }

  async start(): Promise<this> {
    this.#feed.start();
    this.url = `ws://127.0.0.1:${await this.#listener.listen('127.0.0.1', 0)}/v1/stream`;
    return this;
  }

  async stop(): Promise<void> {
    this.#hub.close();
    await this.#listener.close();
    await this.#feed.close();
  }
}

interface Frame {
  readonly type: string;
  readonly channel?: string;
  readonly id?: number;
  readonly kind?: string;
  readonly seq: number;
  readonly prev: number;
  readonly role?: string;
  readonly levels?: readonly {
    readonly side: string;
    readonly price: string;
    readonly size: string;
  }[];
  readonly at: { readonly offset: number; readonly index: number };
}

/** A client that connects again after every cut and resumes from the messages that it has. */
class Reader {
  readonly levels = new Map<string, string>();
  readonly fills: string[] = [];
  readonly problems: string[] = [];
  /** Both begin with the first message of the log, so that nothing may be missing. */
  bookSeq = 0;
  ownSeq = 0;
  #socket: WebSocket | null = null;
  readonly #wallet: WalletAddress;
  readonly #token: string;

  constructor(wallet: WalletAddress, market: number) {
    this.#wallet = wallet;
    this.#token = token(market, 0);
  }

  /** Replaces the connection; the old one is cut without a word. */
  connect(url: string): void {
    this.#socket?.terminate();
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('open', () => {
      socket.send(JSON.stringify({ op: 'auth', id: 1, headers: { wallet: this.#wallet } }));
      this.#subscribe(socket, 2);
      this.#subscribe(socket, 3);
    });
    socket.on('message', (data) => {
      if (socket !== this.#socket) return;
      const frame = JSON.parse(String(data)) as Frame;
      if (frame.type !== 'error') this.#take(frame);
      else if (frame.id === 2 || frame.id === 3) this.#again(socket, frame.id);
    });
  }

  /** Reads nothing until `resume`. */
  stall(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  close(): void {
    this.#socket?.terminate();
  }

  /** An instance that is restoring, or has not read as far, is asked again. */
  #again(socket: WebSocket, id: 2 | 3): void {
    setTimeout(() => {
      if (socket === this.#socket && socket.readyState === socket.OPEN) this.#subscribe(socket, id);
    }, 120);
  }

  #subscribe(socket: WebSocket, id: 2 | 3): void {
    const { bookSeq, ownSeq } = this;
    const isBook = id === 2;
    const keys = isBook ? { channel: 'book', tokens: [this.#token] } : { channel: 'own' };
    const seq = isBook ? bookSeq : ownSeq;
    const position = isBook ? { seq } : [{ partition: logPartition, seq }];
    socket.send(JSON.stringify({ op: 'subscribe', id, ...keys, from: position }));
  }

  #take(frame: Frame): void {
    if (frame.channel === 'book') this.#book(frame);
    if (frame.channel === 'own' && frame.type !== 'state' && frame.type !== 'subscribed')
      this.#own(frame);
  }

  #book(frame: Frame): void {
    if (frame.type === 'subscribed' || frame.type === 'checksum') return;
    if (frame.type !== 'delta' || frame.prev !== this.bookSeq)
      this.problems.push(`book ${this.bookSeq} ${JSON.stringify(frame)}`);
    for (const { side, price, size } of frame.levels ?? []) {
      if (size === '0') this.levels.delete(`${side} ${price}`);
      else this.levels.set(`${side} ${price}`, size);
    }
    this.bookSeq = frame.seq;
  }

  #own(frame: Frame): void {
    if (frame.type !== 'event' || frame.prev !== this.ownSeq)
      this.problems.push(`own ${this.ownSeq} ${JSON.stringify(frame)}`);
    this.ownSeq = frame.seq;
    if (frame.kind === 'fill')
      this.fills.push(`${frame.at.offset} ${frame.at.index} ${frame.role}`);
  }
}

/** The market and the wallet with most fills. */
function busiest(log: readonly Execution[]): { market: number; wallet: WalletAddress } {
  const counts = new Map<string | number, number>();
  const count = (key: string | number) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const event of log.flatMap(({ events }) => events)) {
    if (event.kind !== 'Fill') continue;
    count(event.market);
    count(walletFromBytes(event.maker));
  }
  const sorted = [...counts].sort((one, other) => other[1] - one[1]).map(([key]) => key);
  const market = Number(sorted.find((key) => typeof key === 'number'));
  const wallet = sorted.find((key) => typeof key === 'string') as WalletAddress;
  return { market, wallet };
}

function fillsOf(log: readonly Execution[], wallet: WalletAddress): readonly string[] {
  return log.flatMap(({ events, inOffset }) =>
    events.flatMap((event, index) => {
      if (event.kind !== 'Fill') return [];
      const roles: string[] = [];
      if (walletFromBytes(event.taker) === wallet) roles.push(`${inOffset} ${index} TAKER`);
      if (walletFromBytes(event.maker) === wallet) roles.push(`${inOffset} ${index} MAKER`);
      return roles;
    }),
  );
}

function bookOf(feed: PartitionFeed, market: number): ReadonlyMap<string, string> {
  const book = feed.snapshot('book', market);
  if (book?.channel !== 'book') throw new Error('no book');
  return new Map(
    book.levels.map(({ side, price, sizeMicro }) => [
      `${side} ${priceText(price)}`,
      microText(sizeMicro),
    ]),
  );
}

/** Two instances over one log, and a reader of them. */
class Cuts {
  readonly #random = new Random(7);
  readonly #log = new MemoryClient(logPartition);
  readonly #catalog = new Catalog();
  readonly #folder: string;
  readonly #executions: readonly Execution[];
  readonly #instances: Instance[] = [];
  #appended = 0;

  constructor(folder: string, executions: readonly Execution[], market: number) {
    this.#folder = folder;
    this.#executions = executions;
    this.#catalog.apply(eventEntry('1'));
    this.#catalog.apply(marketEntry(market));
  }

  async start(): Promise<void> {
    this.append(100);
    for (const index of [0, 1]) this.#instances[index] = await this.#open(index);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#instances.map((instance) => instance.stop()));
  }

  append(count: number): void {
    for (const execution of this.#executions.slice(this.#appended, this.#appended + count))
      this.#log.append(execution, execution.inOffset % 7 === 6 ? 1 : 0);
    this.#appended += count;
  }

  /** The address of one of the instances. */
  url(): string {
    return this.#instances[this.#random.integer(0, 1)]?.url ?? '';
  }

  /** One disturbance: a restart of an instance at each tenth cut, a stall of the reader or neither; then a cut. */
  async cut(reader: Reader, count: number): Promise<void> {
    const random = this.#random;
    if (count % 10 === 9) await this.#restart(random.integer(0, 1));
    else if (random.next() < 0.2) {
      reader.stall();
      await wait(random.integer(1, 20));
      reader.resume();
    }
    await wait(random.integer(0, 15));
    reader.connect(this.url());
  }

  async #restart(index: number): Promise<void> {
    await this.#instances[index]?.stop();
    this.#instances[index] = await this.#open(index);
  }

  #open(index: number): Promise<Instance> {
    return new Instance(this.#log, join(this.#folder, String(index)), this.#catalog).start();
  }
}

test(`after ${cuts} cuts, with stalls and restarts, the book is that of the log and each own fill came once`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pm-cuts-'));
  const executions = [...engineLog(11, cuts * recordsPerCut + 100)];
  const { market, wallet } = busiest(executions);
  const service = new Cuts(folder, executions, market);
  const reader = new Reader(wallet, market);
  await service.start();
  reader.connect(service.url());
  try {
    let connectionsWithNews = 0;
    for (let cut = 0; cut < cuts; cut += 1) {
      const before = reader.ownSeq + reader.bookSeq;
      service.append(recordsPerCut);
      // Some connections live long enough to be resumed in full.
      if (cut % 5 === 0) await wait(40);
      await service.cut(reader, cut);
      if (reader.ownSeq + reader.bookSeq > before) connectionsWithNews += 1;
    }
    const expected = new PartitionFeed(logPartition);
    for (const execution of executions) expected.take(execution, execution.inOffset);
    const seqs = [expected.snapshot('book', market)?.seq, expected.ownSnapshot(wallet).seq];
    for (let tries = 1; tries < 400; tries += 1) {
      if (reader.bookSeq === seqs[0] && reader.ownSeq === seqs[1]) break;
      if (tries % 100 === 0) reader.connect(service.url());
      await wait(50);
    }
    expect(reader.problems).toEqual([]);
    expect([reader.bookSeq, reader.ownSeq]).toEqual(seqs);
    expect(reader.levels).toEqual(bookOf(expected, market));
    expect(reader.fills).toEqual(fillsOf(executions, wallet));
    expect(reader.fills.length).toBeGreaterThan(cuts / 4);
    expect(connectionsWithNews).toBeGreaterThan(cuts / 10);
  } finally {
    reader.close();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}, 300_000);
