import { whileTimePasses } from '../../kit/test/passing-time.ts';
import { testDomain } from '../../kit/test/signing-domain.ts';
import { ExchangeClient, type RetryPolicy, walletFromPrivateKey } from '../src/index.ts';
import { responseOf } from './model-exchange.ts';

/** Tests of the waits of cancels, on a clock of the test. */

const signer = walletFromPrivateKey(`0x${'11'.repeat(32)}`);
const retry: RetryPolicy = { firstPauseMs: 100, longestPauseMs: 500, totalMs: 30_000 };
const key = { apiKey: 'key', secret: `${'A'.repeat(43)}=`, passphrase: 'p', address: '0x00' };
const [a, b] = ['a', 'b'].map((digit) => `0x${digit.repeat(64)}`) as [string, string];
/** One step of the clock of the test. */
const stepMs = 20;

interface Sent {
  readonly route: string;
  readonly body: unknown;
  readonly atMs: number;
}

type Answer = readonly [status: number, body: unknown] | Response | 'no response' | 'lost';

const realFetch = globalThis.fetch;
let sent: Sent[];

afterEach(() => {
  globalThis.fetch = realFetch;
});

function answerWith(answer: (route: string) => Answer): void {
  sent = [];
  const startedMs = performance.now();
  globalThis.fetch = (async (input: unknown, init: RequestInit) => {
    const route = `${init.method} ${new URL(String(input)).pathname}`;
    const body: unknown = init.body == null ? null : JSON.parse(String(init.body));
    sent.push({ route, body, atMs: performance.now() - startedMs });
    const given = answer(route);
    if (given === 'lost') throw new TypeError('reset');
    if (given instanceof Response) return given;
    if (given !== 'no response') return responseOf(...given);
    return await new Promise((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(new TypeError('aborted')));
    });
  }) as typeof fetch;
}

function clientWith(policies: { readonly retryCanceling?: RetryPolicy } = {}): ExchangeClient {
  const options = { baseUrl: 'http://model', signer, domain: testDomain, retry, concurrency: 1 };
  const client = new ExchangeClient({ ...options, ...policies });
  client.useKey(key);
  return client;
}

const within = (totalMs: number): RetryPolicy => ({ ...retry, totalMs });
const notCanceled = (codes: Readonly<Record<string, string>>, canceled: readonly string[] = []) =>
  [200, { canceled, not_canceled: codes, not_canceled_codes: codes }] as const;
const sentTo = (route: string) => sent.filter((one) => one.route === route);

test.each([
  ['a second', 30_000, 1_000],
  ['half of a smaller budget', 800, 400],
])(
  'a cancel by market waits %s at most for the market of what has no response',
  async (_, totalMs, mostMs) => {
    await whileTimePasses(async () => {
      answerWith((route) => {
        if (route === 'GET /neg-risk') return [200, { neg_risk: false }];
        return route.startsWith('DELETE') ? notCanceled({}) : 'no response';
      });
      const client = clientWith({ retryCanceling: within(totalMs) });
      const placing = client.placeOrder({ tokenId: '7', side: 'BUY', price: '0.5', size: '10' });
      placing.catch(() => undefined);
      while (sentTo('POST /order').length === 0) await new Promise((done) => setTimeout(done, 1));
      const calledMs = sent.at(-1)?.atMs ?? 0;
      await client.cancelMarketOrders({ market: '0x01' });
      const [canceling] = sentTo('DELETE /cancel-market-orders');
      expect((canceling?.atMs ?? Number.NaN) - calledMs).toBeLessThanOrEqual(mostMs + stepMs);
      await expect(placing).rejects.toThrow();
    });
  },
);

test('what a lost cancel has canceled is read within its budget, and else left as it is', async () => {
  await whileTimePasses(async () => {
    answerWith((route) => {
      if (route === 'POST /data/orders') return 'no response';
      return sent.length === 1 ? 'lost' : notCanceled({ [a]: 'order_not_found' });
    });
    const client = clientWith({ retryCanceling: within(2_000) });
    const calledMs = performance.now();
    const result = await client.cancelOrder(a);
    expect(performance.now() - calledMs).toBeLessThanOrEqual(2_000 + stepMs);
    expect(sentTo('POST /data/orders')).toHaveLength(1);
    expect(result).toMatchObject({ canceled: [], not_canceled_codes: { [a]: 'order_not_found' } });
  });
});

test.each<[string, Answer]>([
  ['refused', [503, { error: 'x', code: 'overloaded' }]],
  ['lost', 'lost'],
])(
  'orders whose repeated cancel is %s until the budget ends have the reason of the try before',
  async (_, later) => {
    await whileTimePasses(async () => {
      answerWith(() => (sent.length === 1 ? notCanceled({ [b]: 'overloaded' }, [a]) : later));
      const client = clientWith({ retryCanceling: within(2_000) });
      const result = await client.cancelOrders([a, b]);
      expect(result).toMatchObject({ canceled: [a], not_canceled_codes: { [b]: 'overloaded' } });
      expect(sentTo('DELETE /orders').length).toBeGreaterThan(2);
      expect(sent.at(-1)?.body).toEqual([b]);
    });
  },
);

test('a cancel that is to wait longer than its budget is not sent again', async () => {
  await whileTimePasses(async () => {
    const limited = () =>
      Response.json({ error: 'x' }, { status: 429, headers: { 'retry-after': '9' } });
    answerWith(() => (sent.length === 1 ? notCanceled({ [b]: 'overloaded' }, [a]) : limited()));
    const result = await clientWith({ retryCanceling: within(2_000) }).cancelOrders([a, b]);
    expect(result).toMatchObject({ canceled: [a], not_canceled_codes: { [b]: 'overloaded' } });
    expect(sent.map(({ route }) => route)).toEqual(['DELETE /orders', 'DELETE /orders']);
  });
});
