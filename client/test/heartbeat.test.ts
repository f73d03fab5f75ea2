import { setTimeout as sleep } from 'node:timers/promises';
import { ExchangeClient, noRetries, walletFromPrivateKey } from '../src/index.ts';
import { FakeExchange } from './fake-exchange.ts';

let fake: FakeExchange;
let client: ExchangeClient;
/** The chain of sessions.md: the id that the next beat has to name; empty without a session. */
let expected: string;
let beats: number;

beforeEach(async () => {
  fake = await FakeExchange.open();
  expected = '';
  beats = 0;
  fake.answer = ({ body }) => {
    const { heartbeat_id } = body as { heartbeat_id: string };
    if (heartbeat_id !== '' && heartbeat_id !== expected) {
      const error = 'Invalid Heartbeat ID';
      const code = 'invalid_heartbeat';
      return { status: 400, body: { error, error_msg: error, code, heartbeat_id: expected } };
    }
    beats += 1;
    expected = `beat-${beats}`;
    return { status: 200, body: { heartbeat_id: expected } };
  };
  client = new ExchangeClient({
    baseUrl: fake.baseUrl,
    signer: walletFromPrivateKey(`0x${'11'.repeat(32)}`),
  });
  await client.connect();
});

afterEach(() => fake.close());

const named = () =>
  fake
    .receivedAt('/v1/heartbeats')
    .map(({ body }) => (body as { heartbeat_id: string }).heartbeat_id);

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries += 1) {
    if (tries > 2_000) throw new Error('the condition did not become true');
    await sleep(2);
  }
}

test('the loop starts a chain, follows its ids, and sends nothing after its stop', async () => {
  const heartbeat = client.startHeartbeat({ intervalMs: 10 });
  await heartbeat.started();
  await until(() => heartbeat.beats >= 4);
  await heartbeat.stop();
  const received = named();
  expect(received.slice(0, 4)).toEqual(['', 'beat-1', 'beat-2', 'beat-3']);
  await sleep(50);
  expect(named().length).toBe(received.length);
});

test('a beat whose response was lost is no miss: the chain goes on with the id that the exchange names', async () => {
  let misses = 0;
  fake.fates = ['serve', 'lose the response'];
  const heartbeat = client.startHeartbeat({
    intervalMs: 10,
    onMiss: () => {
      misses += 1;
    },
  });
  await until(() => heartbeat.beats >= 3);
  await heartbeat.stop();
  expect(named().slice(0, 4)).toEqual(['', 'beat-1', 'beat-1', 'beat-2']);
  expect(misses).toBe(0);
});

test('a miss is reported, and a new session begins', async () => {
  let misses = 0;
  const heartbeat = client.startHeartbeat({
    intervalMs: 10,
    onMiss: () => {
      misses += 1;
    },
  });
  await until(() => heartbeat.beats >= 2);
  expected = '';
  const before = beats;
  await until(() => misses === 1 && beats > before);
  await heartbeat.stop();
  expect(misses).toBe(1);
  expect(named().filter((id) => id === '').length).toBe(2);
});

test('a miss ends the placements that wait to be sent', async () => {
  fake.hangs = ({ path }) => path === '/order';
  const signer = walletFromPrivateKey(`0x${'11'.repeat(32)}`);
  const options = { baseUrl: fake.baseUrl, signer, retry: noRetries };
  const narrow = new ExchangeClient({ ...options, concurrency: 1 });
  await narrow.connect();
  const intent = { tokenId: '7', side: 'BUY', price: '0.5', size: '10' } as const;
  const orders = await Promise.all([narrow.prepareOrder(intent), narrow.prepareOrder(intent)]);
  const ends = orders.map((order) => narrow.postOrder(order).catch((error) => error as unknown));
  const heartbeat = narrow.startHeartbeat({ intervalMs: 10 });
  await until(() => heartbeat.beats >= 2 && fake.receivedAt('/order').length === 1);
  expected = '';
  expect(await ends[1]).toMatchObject({ code: 'client_canceled' });
  await heartbeat.stop();
  expect(fake.receivedAt('/order')).toHaveLength(1);
  await fake.close();
  await Promise.all(ends);
});

test('a refused signature ends the loop and is reported', async () => {
  const body = { error: 'Unauthorized/Invalid api key', code: 'invalid_l2' };
  fake.fates = [{ status: 401, body }];
  const reported: boolean[] = [];
  const heartbeat = client.startHeartbeat({ onError: (_error, isOver) => reported.push(isOver) });
  await expect(heartbeat.started()).rejects.toMatchObject({ code: 'invalid_l2' });
  expect(reported).toEqual([true]);
  await heartbeat.stop();
});

test('a clock that is off is corrected by the time of the exchange, and the beats go on', async () => {
  const serverMs = Date.now() + 3_600_000;
  const heard: [unknown, boolean][] = [];
  const skew = { error: 'TIMESTAMP_SKEW', code: 'timestamp_skew', server_time: serverMs };
  fake.fates = ['serve', 'serve', { status: 401, body: skew }];
  const heartbeat = client.startHeartbeat({
    intervalMs: 10,
    onError: (error, isOver) => heard.push([error, isOver]),
  });
  await until(() => heartbeat.beats >= 4);
  await heartbeat.stop();
  expect(heard).toMatchObject([[{ code: 'timestamp_skew' }, false]]);
  const times = fake
    .receivedAt('/v1/heartbeats')
    .map(({ headers }) => Number(headers['service_timestamp']));
  expect(times.map((timeMs) => timeMs >= serverMs).slice(0, 4)).toEqual([
    false,
    false,
    false,
    true,
  ]);
});

test.each([-60_000, 60_000])('a clock that is off by %d ms fails no beat', async (aheadMs) => {
  fake.aheadMs = aheadMs;
  await client.connect();
  const failures: unknown[] = [];
  const heartbeat = client.startHeartbeat({
    intervalMs: 10,
    onError: (error) => failures.push(error),
  });
  await until(() => heartbeat.beats >= 3);
  await heartbeat.stop();
  expect(failures).toEqual([]);
});

describe('an error that no caller gets', () => {
  let surfaced: jest.SpyInstance;
  const refused = () => ({ status: 401, body: { error: 'x', code: 'invalid_l2' } });
  const seen = () => surfaced.mock.calls.map(([error]) => error as unknown);

  beforeEach(() => {
    // An unhandled rejection would end the run.
    surfaced = jest.spyOn(Promise, 'reject').mockImplementation(async () => undefined as never);
  });

  afterEach(() => surfaced.mockRestore());

  test('is an unhandled rejection when a heartbeat without a listener ends', async () => {
    const heartbeat = client.startHeartbeat({ intervalMs: 10 });
    await heartbeat.started();
    fake.answer = refused;
    await until(() => seen().length > 0);
    expect(seen()).toMatchObject([{ code: 'invalid_l2' }]);
    await heartbeat.stop();
  });

  test('so is one before the first beat, unless its start is waited for', async () => {
    fake.answer = refused;
    const heartbeat = client.startHeartbeat();
    await until(() => seen().length > 0);
    await heartbeat.stop();
    const awaited = client.startHeartbeat();
    await expect(awaited.started()).rejects.toMatchObject({ code: 'invalid_l2' });
    await awaited.stop();
    expect(seen()).toMatchObject([{ code: 'invalid_l2' }]);
  });

  test('is that of a callback, which ends no heartbeat', async () => {
    fake.fates = ['serve', { status: 503, body: { error: 'x', code: 'overloaded' } }];
    const fails = (name: string) => () => {
      throw new Error(name);
    };
    const options = { intervalMs: 10, onMiss: fails('miss'), onError: fails('error') };
    const heartbeat = client.startHeartbeat(options);
    await until(() => heartbeat.beats >= 2);
    expected = '';
    const before = beats;
    await until(() => beats > before + 2);
    await heartbeat.stop();
    expect(seen()).toMatchObject([{ message: 'error' }, { message: 'miss' }]);
  });
});

test('a beat does not wait behind cancels and orders that get no response', async () => {
  fake.hangs = ({ path }) => path !== '/v1/heartbeats';
  const signer = walletFromPrivateKey(`0x${'11'.repeat(32)}`);
  const options = { baseUrl: fake.baseUrl, signer, retry: noRetries };
  const narrow = new ExchangeClient({ ...options, concurrency: 2 });
  await narrow.connect();
  const cancels = Array.from({ length: 4 }, () => narrow.cancelOrder('0x01').catch(() => null));
  const reads = Array.from({ length: 4 }, () => narrow.read('/anything').catch(() => null));
  const heartbeat = narrow.startHeartbeat({ intervalMs: 10 });
  await heartbeat.started();
  await heartbeat.stop();
  expect(fake.receivedAt('/order').length).toBeLessThanOrEqual(2);
  // A call that goes on would reckon with the clock of the next suite.
  await fake.close();
  await Promise.all([...cancels, ...reads]);
});
