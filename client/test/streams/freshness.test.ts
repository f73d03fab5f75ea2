import { ExchangeClient, type FreshnessEvent } from '../../src/index.ts';
import { FakeSocket } from './fake-socket.ts';

/** An exchange with two markets, one in each partition; a heartbeat comes each second while it runs. */
const exchange = {
  isPaused: false,
  isRefusing: false,
  notLive: [] as readonly number[],
  /** Rows of subscriptions have this field. */
  waiting: {} as { waiting?: true },
  newestSeq: 100,
};
const markets = ['0x00', '0x01'];
const realWebSocket = globalThis.WebSocket;
let followed: { channel: string; key: string; seq: number }[];
let events: FreshnessEvent[];
let beats: ReturnType<typeof setInterval>;

/** A socket that the exchange may refuse, with what it sends. */
class Socket extends FakeSocket {
  constructor() {
    super();
    followed = [];
    if (exchange.isRefusing) setTimeout(() => this.close(), 0);
  }
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  globalThis.WebSocket = Socket as unknown as typeof WebSocket;
  Object.assign(exchange, { isPaused: false, isRefusing: false, notLive: [], waiting: {} });
  exchange.newestSeq = 100;
  followed = [];
  events = [];
  FakeSocket.act = (frame, socket) => {
    const [market = ''] = frame.markets;
    if (frame.op !== 'subscribe' || exchange.isPaused) return;
    followed.push({ channel: 'trades', key: market, seq: 100 });
    socket.push({ type: 'subscribed', id: frame.id });
    const at = { partition: markets.indexOf(market), offset: 1, index: 0 };
    if (frame.from === undefined) {
      socket.push({ type: 'snapshot', channel: 'trades', market, seq: 100, at });
    }
  };
  beats = setInterval(beat, 1_000);
  const retry = { firstPauseMs: 5, longestPauseMs: 10, totalMs: 60_000 };
  const onFreshness = (event: FreshnessEvent) => void events.push(event);
  const client = new ExchangeClient({ baseUrl: 'http://model', retry, onFreshness });
  for (const market of markets) void client.stream.trades(market).next();
});

afterEach(() => {
  clearInterval(beats);
  globalThis.WebSocket = realWebSocket;
  jest.useRealTimers();
});

function beat(): void {
  if (exchange.isPaused) return;
  const partitions = markets.map((_, partition) => {
    return { partition, live: !exchange.notLive.includes(partition) };
  });
  const subscriptions = followed.map((row) => {
    return { ...row, seq: exchange.newestSeq, ...exchange.waiting };
  });
  FakeSocket.newest?.push({ type: 'heartbeat', partitions, subscriptions });
}

const passes = (ms: number) => jest.advanceTimersByTimeAsync(ms);
const of = (state: string, market: number, partitions: readonly number[] = []) => {
  return { state, channel: 'trades', key: markets[market], partitions };
};
const bothAre = (state: string) => [of(state, 0), of(state, 1)];

test('subscriptions of an exchange that runs are fresh, and nothing is reported', async () => {
  await passes(20_000);
  expect(events).toEqual([]);
});

test('streams that are paused make each subscription stale half a second after a heartbeat was due', async () => {
  await passes(10_000);
  exchange.isPaused = true;
  await passes(1_499);
  expect(events).toEqual([]);
  await passes(1);
  expect(events).toEqual(bothAre('stale'));
  await passes(45_000);
  exchange.isPaused = false;
  await passes(10_000);
  expect(events).toEqual([...bothAre('stale'), ...bothAre('fresh')]);
});

test('a partition without an owner makes its subscriptions stale with the heartbeat that says so', async () => {
  await passes(10_000);
  exchange.notLive = [1];
  beat();
  expect(events).toEqual([of('stale', 1, [1])]);
  await passes(30_000);
  exchange.notLive = [];
  beat();
  expect(events).toEqual([of('stale', 1, [1]), of('fresh', 1)]);
});

test('a connection that is replaced before the next heartbeat is due is not reported', async () => {
  await passes(10_000);
  FakeSocket.newest?.close();
  await passes(10_000);
  expect(events).toEqual([]);
});

test('a connection that is gone is stale, and fresh with the first heartbeat of the next one', async () => {
  await passes(10_000);
  exchange.isRefusing = true;
  FakeSocket.newest?.close();
  await passes(5_000);
  expect(events).toEqual(bothAre('stale'));
  exchange.isRefusing = false;
  await passes(2_000);
  expect(events).toEqual([...bothAre('stale'), ...bothAre('fresh')]);
});

test('a subscription whose messages wait or are missing is not fresh', async () => {
  await passes(10_000);
  exchange.waiting = { waiting: true };
  await passes(2_000);
  expect(events).toEqual(bothAre('stale'));
  exchange.waiting = {};
  exchange.newestSeq = 101;
  await passes(2_000);
  expect(events).toEqual(bothAre('stale'));
  exchange.newestSeq = 100;
  await passes(1_000);
  expect(events).toEqual([...bothAre('stale'), ...bothAre('fresh')]);
});
