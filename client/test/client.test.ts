import { Gate } from '../src/gate.ts';
import {
  type AttemptResponse,
  ExchangeClient,
  noRetries,
  type RetryPolicy,
  type Signer,
  type TypedDataSigner,
  walletFromPrivateKey,
} from '../src/index.ts';
import { actionResult, FakeExchange, type Fate } from './fake-exchange.ts';

let fake: FakeExchange;
let client: ExchangeClient;
const signer = walletFromPrivateKey(`0x${'11'.repeat(32)}`);
const retry = { firstPauseMs: 2, longestPauseMs: 10, totalMs: 2_000 };

beforeEach(async () => {
  fake = await FakeExchange.open();
  client = new ExchangeClient({ baseUrl: fake.baseUrl, signer, retry });
  await client.connect();
});

afterEach(() => fake.close());

test('unconfirmed cancels are repeated, and only those', async () => {
  const answers = [
    {
      canceled: ['0xa'],
      not_canceled: { '0xb': 'order could not be cancelled', '0xc': 'order already matched' },
      not_canceled_codes: { '0xb': 'cancel_unconfirmed', '0xc': 'already_matched' },
    },
    { canceled: ['0xb'], not_canceled: {} },
  ];
  fake.answer = () => ({ status: 200, body: answers.shift() });
  const result = await client.cancelOrders(['0xa', '0xb', '0xc']);
  expect(result).toEqual({
    canceled: ['0xa', '0xb'],
    not_canceled: { '0xc': 'order already matched' },
    not_canceled_codes: { '0xc': 'already_matched' },
  });
  expect(fake.receivedAt('/orders').map(({ body }) => body)).toEqual([
    ['0xa', '0xb', '0xc'],
    ['0xb'],
  ]);
});

test('reads and cancels are repeated until they have a response', async () => {
  fake.answer = () => ({ status: 200, body: { canceled: [], not_canceled: {} } });
  fake.fates = [
    'lose the response',
    { status: 503, body: { error: 'x', code: 'cancel_unconfirmed' } },
  ];
  await client.cancelAll();
  expect(fake.receivedAt('/cancel-all').length).toBe(3);
  fake.answer = () => ({ status: 200, body: { wallets: [] } });
  fake.fates = ['lose the request', { status: 502, body: '' }];
  expect(await client.own.balances()).toEqual([]);
});

describe('connect()', () => {
  // Longer than a millisecond, which is all that tells two proofs apart.
  const slowly = { ...retry, firstPauseMs: 20, longestPauseMs: 20 };
  const refusal = (code: string, status: number, more: object = {}) => ({
    status,
    body: { error: 'x', code, ...more },
  });
  const proofsOf = async (wallet: Signer | TypedDataSigner, answers: typeof fake.keyAnswers) => {
    fake.keyProofs.length = 0;
    fake.keyAnswers = answers;
    await new ExchangeClient({ baseUrl: fake.baseUrl, signer: wallet, retry: slowly }).connect();
    return fake.keyProofs;
  };

  test('signs for each attempt, as one that failed may have used its proof up', async () => {
    const nowMs = Date.now();
    const proofs = await proofsOf(signer, [
      refusal('overloaded', 503),
      { status: 502, body: '' },
      refusal('request_repeated', 409),
      refusal('timestamp_skew', 401, { server_time: nowMs + 3_600_000 }),
      refusal('timestamp_skew', 401, { server_time: nowMs + 7_200_000 }),
    ]);
    expect(proofs.length).toBe(6);
    expect(new Set(proofs).size).toBe(6);
  });

  test('asks the owner of a wallet again only where the proof may be used up', async () => {
    const { address, checksummed } = signer;
    let asked = 0;
    const signTypedData = async () => {
      asked += 1;
      return `signature ${asked}`;
    };
    const shown = { address, checksummed, signTypedData };
    const answers = [refusal('rate_limited', 429), refusal('overloaded', 503)];
    expect(await proofsOf(shown, answers)).toEqual(['signature 1', 'signature 1', 'signature 2']);
  });
});

test('an account action keeps its id over all attempts', async () => {
  fake.answer = () => ({ status: 200, body: actionResult('a') });
  fake.fates = [
    'lose the response',
    { status: 503, body: { code: 'action_unconfirmed' } },
    { status: 503, body: { code: 'idempotency_in_progress' } },
    { status: 200, body: 'page of a proxy' },
  ];
  await client.account.split({ conditionId: '0x1', amount: '5' });
  const ids = fake.receivedAt('/account/split').map(({ body }) => (body as { id: string }).id);
  expect(ids.length).toBe(5);
  expect(new Set(ids).size).toBe(1);
});

describe('a refusal of an account action', () => {
  const refusal = (code: string): Fate => ({ status: 400, body: { error: code, code } });
  const split = () => client.account.split({ conditionId: '0x1', amount: '5', id: 'pay-7' });
  const unresolved = { name: 'UnresolvedActionError', actionId: 'pay-7' };

  test('says that nothing was done when no attempt was lost', async () => {
    fake.fates = [{ status: 429, body: { code: 'rate_limited' } }, refusal('closed_only')];
    await expect(split()).rejects.toMatchObject({ name: 'ExchangeError', code: 'closed_only' });
  });

  test('leaves the action unresolved after a lost attempt, also of an earlier call', async () => {
    fake.fates = ['lose the response', refusal('closed_only'), refusal('user_banned')];
    await expect(split()).rejects.toMatchObject({ ...unresolved, cause: { code: 'closed_only' } });
    fake.fates.splice(0, 0, { status: 200, body: actionResult('pay-7') });
    await client.account.withdraw({ amount: '5', id: 'pay-7' });
    await expect(split()).rejects.toMatchObject({ ...unresolved, cause: { code: 'user_banned' } });
  });

  test('is none of an earlier attempt that is lost, also when the code is final', async () => {
    fake.fates = ['lose the response', refusal('market_resolved')];
    await expect(split()).rejects.toMatchObject(unresolved);
  });

  test('leaves it unresolved when it is none of the exchange', async () => {
    fake.fates = [{ status: 524, body: 'page of a proxy' }];
    await expect(split()).rejects.toMatchObject({ ...unresolved, cause: { status: 524 } });
  });
});

describe.each([-3_600_000, -299_000, -31_000, 31_000, 299_000, 3_600_000])(
  'a clock that is %d ms from that of the exchange',
  (aheadMs) => {
    const open = (policy: RetryPolicy) =>
      new ExchangeClient({ baseUrl: fake.baseUrl, signer, retry: policy });

    beforeEach(() => {
      fake.aheadMs = aheadMs;
      fake.answer = () => ({ status: 200, body: { canceled: [], not_canceled: {} } });
    });

    test('is corrected by connect(), before anything else is refused for it', async () => {
      const off = open(retry);
      await off.connect();
      await off.cancelAll();
      const sent = fake.receivedAt('/cancel-all').at(-1)?.headers['service_timestamp'];
      // A date says no more than the second.
      expect(Math.abs(Number(sent) - (Date.now() + aheadMs))).toBeLessThan(30_000);
      expect(fake.receivedAt('/cancel-all').length).toBe(1);
    });

    test('is corrected by the first refusal where a key is used without connect()', async () => {
      const off = open(noRetries);
      off.useKey({ apiKey: 'key', secret: 'AAAA', passphrase: 'p', address: signer.address });
      await expect(off.cancelAll()).rejects.toMatchObject({ code: 'timestamp_skew' });
      await off.cancelAll();
    });
  },
);

test('a clock that is right to the second is left alone', async () => {
  fake.aheadMs = 0;
  fake.answer = () => ({ status: 200, body: { canceled: [], not_canceled: {} } });
  await client.connect();
  const beforeMs = Date.now();
  await client.cancelAll();
  const sentMs = Number(fake.receivedAt('/cancel-all').at(-1)?.headers['service_timestamp']);
  // The wall clock is adjusted against the monotonic one all the time.
  const adjustedMs = 5;
  expect(sentMs).toBeGreaterThanOrEqual(beforeMs - adjustedMs);
  expect(sentMs).toBeLessThanOrEqual(Date.now() + adjustedMs);
});

test('an unsafe request is repeated only when nothing was done', async () => {
  fake.answer = () => ({ status: 200, body: { apiKey: 'made' } });
  fake.fates = [{ status: 429, body: { error: 'x', code: 'rate_limited' } }];
  expect(await client.keys.createReadOnlyKey()).toBe('made');
  fake.fates = ['lose the response'];
  const failure = client.keys.createReadOnlyKey();
  await expect(failure).rejects.toMatchObject({ code: 'no_answer', status: 0, retryable: true });
  expect(fake.receivedAt('/auth/readonly-api-key').length).toBe(3);
});

test('trades are read page by page, on demand', async () => {
  const pages: Record<string, { data: { id: string }[]; next_cursor: string }> = {
    'MA==': { data: [{ id: 'a' }, { id: 'b' }], next_cursor: 'Mg==' },
    'Mg==': { data: [{ id: 'c' }], next_cursor: 'LTE=' },
  };
  fake.answer = ({ query }) => ({ status: 200, body: pages[query.get('next_cursor') ?? ''] });
  const ids: string[] = [];
  for await (const { id } of client.own.trades({ market: '0x1' })) ids.push(id);
  expect(ids).toEqual(['a', 'b', 'c']);
  for await (const { id } of client.own.trades()) if (id === 'a') break;
  expect(fake.receivedAt('/data/trades').length).toBe(3);
});

test('a read-only key reads without an API key', async () => {
  fake.answer = () => ({ status: 200, body: [] });
  const reader = { address: signer.address, readOnlyKey: 'looker' };
  const watcher = new ExchangeClient({ baseUrl: fake.baseUrl, reader });
  await watcher.own.notifications();
  const [received] = fake.receivedAt('/notifications');
  expect(received?.headers['service_readonly_api_key']).toBe('looker');
  expect(received?.headers['service_api_key']).toBeUndefined();
});

test('no more requests than allowed run at a time, and cancels do not wait for reads', async () => {
  fake.answer = () => ({ status: 200, body: { canceled: [], not_canceled: {} } });
  fake.delayMs = 20;
  const narrow = new ExchangeClient({ baseUrl: fake.baseUrl, signer, retry, concurrency: 2 });
  await narrow.connect();
  const reads = Array.from({ length: 10 }, () => narrow.read('/anything'));
  const order: string[] = [];
  const cancel = narrow.cancelAll().then(() => order.push('cancel'));
  await Promise.all([...reads, cancel].map((one) => one.then(() => order.push('read'))));
  expect(order.indexOf('cancel')).toBeLessThan(8);
  expect(fake.mostRunning).toBeLessThanOrEqual(3);
});

test('a gate limits its queue, and serves it in order', async () => {
  const gate = new Gate({ concurrent: 1, waiting: 2 });
  const ended: number[] = [];
  const run = (id: number) => gate.pass(async () => ended.push(id), { leftMs: 60_000 });
  const accepted = [run(1), run(2), run(3)];
  await expect(run(4)).rejects.toMatchObject({ code: 'client_overloaded' });
  await Promise.all(accepted);
  await run(5);
  expect(ended).toEqual([1, 2, 3, 5]);
});

const intent = { tokenId: '7', side: 'BUY', price: '0.5', size: '10' } as const;

test('status and headers of each response can be seen, with the request that it answers', async () => {
  const seen: AttemptResponse[] = [];
  const onResponse = (response: AttemptResponse) => seen.push(response);
  const watched = new ExchangeClient({ baseUrl: fake.baseUrl, signer, retry, onResponse });
  await watched.connect();
  const order = await watched.prepareOrder(intent);
  seen.length = 0;
  const busy = { status: 503, body: { error: 'x', code: 'overloaded' }, retryAfter: 1 };
  fake.fates = [busy, 'lose the request'];
  await watched.postOrder(order);
  const sent = { method: 'POST', path: '/order', body: order.submission };
  expect(seen).toMatchObject([
    { ...sent, tries: 1, status: 503, headers: { 'retry-after': '1' } },
    { ...sent, tries: 3, status: 200, headers: { 'content-type': 'application/json' } },
  ]);
});

test('an error of a callback for attempts and responses ends no call', async () => {
  // An unhandled rejection would end the run.
  const errors: unknown[] = [];
  const surfaced = jest.spyOn(Promise, 'reject').mockImplementation(async (error) => {
    errors.push(error);
    return undefined as never;
  });
  const failing = (callback: string) => (seen: Pick<AttemptResponse, 'path'>) => {
    throw new Error(`${callback} ${seen.path}`);
  };
  const callbacks = { onAttempt: failing('attempt'), onResponse: failing('response') };
  const watched = new ExchangeClient({ baseUrl: fake.baseUrl, signer, retry, ...callbacks });
  try {
    await watched.connect();
    expect(await watched.placeOrder(intent)).toMatchObject({ success: true });
  } finally {
    surfaced.mockRestore();
  }
  const texts = errors.slice(-2).map((error) => (error as Error).message);
  expect(texts).toEqual(['attempt /order', 'response /order']);
});

test('an error has the headers of its response', async () => {
  fake.fates = [{ status: 400, body: { error: 'x', code: 'invalid_request' }, retryAfter: 9 }];
  const failed = await client.read('/anything').catch((error: unknown) => error);
  expect(failed).toMatchObject({ status: 400, headers: { 'retry-after': '9' } });
});

test('calls that place and calls that cancel have retry budgets of their own', async () => {
  fake.answer = () => ({ status: 200, body: { canceled: [], not_canceled: {} } });
  const busy = { status: 503, body: { error: 'x', code: 'overloaded' } };
  const sentTimes = async (budgets: object) => {
    const own = new ExchangeClient({ baseUrl: fake.baseUrl, signer, retry, ...budgets });
    await own.connect();
    fake.received.length = 0;
    fake.fates = [busy];
    const [placed] = await own.placeOrders([intent]);
    fake.fates = [busy];
    await own.cancelAll().catch(() => null);
    const times = ['/orders', '/cancel-all'].map((path) => fake.receivedAt(path).length);
    return [...times, placed?.success];
  };
  expect(await sentTimes({ retryPlacing: noRetries })).toEqual([1, 2, false]);
  expect(await sentTimes({ retryCanceling: noRetries })).toEqual([2, 1, true]);
});
