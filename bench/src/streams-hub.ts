import { CommentThreads } from '@pm/domain/comments/threads';
import { type TransferStore, TransferTotals } from '@pm/domain/ledger/transfer-totals';
import { Catalog } from '@pm/domain/markets/catalog';
import { Profiles } from '@pm/domain/social/profiles';
import { systemClock } from '@pm/kit/clock';
import { silentLog } from '@pm/kit/log';
import { checksumEvery } from '@pm/schemas/streams/limits';
import { CommentFeed } from '@pm/streams/comments/comment-feed';
import { OwnStates } from '@pm/streams/own/own-states';
import { ConnectionCounts } from '@pm/streams/protocol/connection-counts';
import { ConnectionMemoryBudget } from '@pm/streams/protocol/connection-memory-budget';
import { ReplayPlaces } from '@pm/streams/protocol/replay-places';
import { StartScheduler } from '@pm/streams/protocol/start-scheduler.io';
import { StreamHub } from '@pm/streams/protocol/stream-hub.io';
import { StreamListener } from '@pm/streams/protocol/stream-listener.io';
import { QueuedTotal } from '@pm/streams/protocol/stream-writer.io';
import type { WebSocket } from 'ws';
import { catalogEntries } from './catalog/made-up.ts';
import { serveParent } from './child/child.ts';
import { makeTrading } from './projectors/trading.ts';
import { booksOf, type Shape } from './stream/shape.ts';
import { deliverSlice, readersLeft } from './streams/deliver.ts';
import { MemoryFeed, openExecutionCodec } from './streams/memory-feed.ts';
import { slicesOf } from './streams/slices.ts';

export interface HubJob {
  readonly shape: Shape;
  /** Parts of the records that are delivered one after the other. */
  readonly slices: number;
  /** Records in one turn of the event loop. */
  readonly perTurn: number;
  /** Tokens of each market that are read: the messages that a record makes for a reader. */
  readonly tokensPerMarket: 1 | 2;
}

export interface HubInfo {
  readonly url: string;
  readonly tokens: readonly string[];
  /** Messages that each reader of these tokens gets, by slice. */
  readonly messages: readonly number[];
}

/** Bound of all readers and of their queues: more than there are. */
const readersMaxBytes = 256 * 1024 * 1024;

/** Hub and listener of the service over the records of a matcher; Kafka is left out. */
await serveParent(async ({ shape, slices, perTurn, tokensPerMarket }: HubJob) => {
  const trading = makeTrading(openExecutionCodec(), {
    shape,
    perEnvelope: 1,
    perSecond: 300,
    startMs: Math.floor(Date.now() / 60_000) * 60_000,
  });
  const catalog = new Catalog();
  for (const entry of catalogEntries(booksOf(shape), 7)) catalog.apply(entry);
  const feed = new MemoryFeed();
  for (const value of trading.opening) feed.take(value);
  const queued = new QueuedTotal(readersMaxBytes);
  const hub = openHub(feed, catalog, queued);
  const sockets = new Set<WebSocket>();
  const url = await listen(hub, sockets);
  const pieces = [...slicesOf(trading.stream, slices)];
  const info: HubInfo = {
    url,
    tokens: [...catalog.markets()].flatMap(({ tokens }) => tokens.slice(0, tokensPerMarket)),
    messages: messagesOf(trading.opening, pieces).map((count) => count * tokensPerMarket),
  };
  const server = {
    sockets,
    queuedBytes: () => queued.bytes,
    deliver: (value: Buffer) => void feed.take(value),
  };
  const work = async () => {
    const times = await deliverSlice(pieces.shift() ?? [], perTurn, server);
    if (pieces.length === 0) await readersLeft(server);
    return times;
  };
  return { info, work, rounds: slices };
});

/** No wallet is read. */
const noStore: TransferStore = {
  hasNewId: () => false,
  append: () => {},
  transfersOf: () => [],
};

function openHub(feed: MemoryFeed, catalog: Catalog, queued: QueuedTotal): StreamHub {
  return new StreamHub({
    feed,
    facts: { catalog, profiles: new Profiles(), secret: Buffer.alloc(32, 1) },
    comments: new CommentFeed(new CommentThreads(), catalog),
    ownStates: new OwnStates(new TransferTotals(noStore)),
    room: new ConnectionMemoryBudget(readersMaxBytes),
    counts: new ConnectionCounts(new ConnectionMemoryBudget(readersMaxBytes)),
    openings: new StartScheduler(systemClock, silentLog),
    places: new ReplayPlaces(),
    queued,
    resumed: () => {},
    verify: () => null,
    isActive: () => false,
    keepAlives: { hold: () => ({ release: () => {} }) },
    clock: systemClock,
    log: silentLog,
    onClosed: () => {},
  });
}

async function listen(hub: StreamHub, sockets: Set<WebSocket>): Promise<string> {
  const listener = new StreamListener({
    trustedProxies: [],
    counts: new ConnectionCounts(new ConnectionMemoryBudget(readersMaxBytes)),
    clock: systemClock,
    log: silentLog,
    compresses: false,
    take: {
      own: (socket, address) => {
        const { frames } = socket;
        sockets.add(frames);
        frames.once('close', () => sockets.delete(frames));
        hub.add(socket, address);
      },
      family: null,
    },
    onRefused: () => {},
  });
  return `ws://127.0.0.1:${await listener.listen('127.0.0.1', 0)}/v1/stream`;
}

/** Messages of the channel `book` that each slice makes for a token of each market. */
function messagesOf(
  opening: readonly Buffer[],
  slices: readonly (readonly Buffer[])[],
): readonly number[] {
  const feed = new MemoryFeed();
  for (const value of opening) feed.take(value);
  return slices.map((values) => {
    let messages = 0;
    for (const value of values) {
      for (const { channel, seq } of feed.take(value)) {
        if (channel === 'book') messages += seq % checksumEvery === 0 ? 2 : 1;
      }
    }
    return messages;
  });
}
