import { ExchangeClient, StreamGapError } from '../../src/index.ts';
import { FakeSocket, type Frame } from './fake-socket.ts';

const realWebSocket = globalThis.WebSocket;
let client: ExchangeClient;
let asked: Frame[];

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  globalThis.WebSocket = FakeSocket as unknown as typeof WebSocket;
  FakeSocket.epoch = 'aaaaaaaaaaaaaaaa';
  const retry = { firstPauseMs: 5, longestPauseMs: 10, totalMs: 60_000 };
  client = new ExchangeClient({ baseUrl: 'http://model', retry });
  asked = [];
});

afterEach(() => {
  globalThis.WebSocket = realWebSocket;
  jest.useRealTimers();
});

const at = { partition: 0, offset: 1, index: 0 };

/** Sequence numbers that a loop over the trades of a market reads, then the error that it throws. */
function follow(market: string): unknown[] {
  const read: unknown[] = [];
  const loop = async () => {
    for await (const { seq } of client.stream.trades(market)) read.push(seq);
  };
  loop().catch((error: unknown) => read.push(error));
  return read;
}

describe('a subscription that joins an open connection', () => {
  let read: unknown[][];

  beforeEach(async () => {
    FakeSocket.act = (frame, socket) => {
      if (frame.op !== 'subscribe') return;
      asked.push(frame);
      socket.push({ type: 'subscribed', id: frame.id });
      if (frame.from !== undefined) return;
      const [market] = frame.markets;
      socket.push({ type: 'snapshot', channel: 'trades', market, seq: 100, at });
    };
    read = [follow('0x01')];
    await jest.advanceTimersByTimeAsync(50);
    read.push(follow('0x02'));
    await jest.advanceTimersByTimeAsync(50);
  });

  test('notices that the log was replaced, and does not skip what has the same numbers', async () => {
    FakeSocket.epoch = 'bbbbbbbbbbbbbbbb';
    FakeSocket.newest?.close();
    await jest.advanceTimersByTimeAsync(50);
    expect(read).toEqual([[expect.any(StreamGapError)], [expect.any(StreamGapError)]]);
  });

  test('names the log of its position', async () => {
    FakeSocket.newest?.close();
    await jest.advanceTimersByTimeAsync(50);
    const from = { seq: 100, epoch: 'aaaaaaaaaaaaaaaa' };
    expect(asked.slice(2).map((frame) => frame.from)).toEqual([from, from]);
  });
});

test('a snapshot completes however long its parts, and the turn of its subscription, take', async () => {
  const heartbeat = { type: 'heartbeat', partitions: [], subscriptions: [] as object[] };
  FakeSocket.act = (frame, socket) => {
    asked.push(frame);
    if (frame.op !== 'subscribe') return;
    const [market] = frame.markets;
    const listed = { channel: 'orders', key: market, seq: 0 };
    heartbeat.subscriptions = [listed];
    setTimeout(() => socket.push({ type: 'subscribed', id: frame.id }), 2_500);
    // Other subscriptions of the exchange come first.
    for (const part of [0, 1, 2, 3]) {
      setTimeout(
        () => {
          listed.seq = 9;
          const more = part < 3 ? { more: true } : {};
          const head = { type: 'snapshot', channel: 'orders', market, seq: 9, at };
          socket.push({ ...head, part, ...more, orders: [] });
        },
        10_000 + part * 2_500,
      );
    }
  };
  const beats = setInterval(() => FakeSocket.newest?.push(heartbeat), 1_000);
  const parts: unknown[] = [];
  const loop = async () => {
    for await (const message of client.stream.orders('0x01')) {
      parts.push((message as { part?: number }).part);
    }
  };
  loop().catch((error: unknown) => parts.push(error));
  await jest.advanceTimersByTimeAsync(30_000);
  clearInterval(beats);
  expect(parts).toEqual([0, 1, 2, 3]);
  expect(asked.map(({ op }) => op)).toEqual(['subscribe']);
});

test('a request that the exchange does not have is sent again', async () => {
  FakeSocket.act = (frame) => {
    asked.push(frame);
  };
  const beats = setInterval(
    () => FakeSocket.newest?.push({ type: 'heartbeat', partitions: [], subscriptions: [] }),
    1_000,
  );
  follow('0x01');
  await jest.advanceTimersByTimeAsync(4_500);
  clearInterval(beats);
  expect(asked.filter(({ op }) => op === 'subscribe')).toHaveLength(2);
});
