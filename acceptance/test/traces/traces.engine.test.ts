import {
  type BuiltOrder,
  buildOrder,
  type ExchangeClient,
  type Signer,
  signedHeaders,
  walletFromPrivateKey,
} from '@pm/client';
import type { ApiKeyTrio, PlacementResult } from '@pm/schemas/http/trading';
import type { SigningDomain } from '@pm/schemas/signing';
import { type ReceivedSpan, TraceReceiver } from '../../../kit/test/traces/receiver.ts';
import { untilNone, WholeExchange } from '../whole-exchange.ts';

/** Half of the orders are traced: each test has some that are and some that are not. */
const share = 0.5;
const drawn = 2 ** 32;
const spansMaxMs = 60_000;
/** Orders while the receiver of traces does not answer. */
const unseenOrders = 10;
/** The parent of each span of an order; what follows from a record in the log has that of the process before. */
const parents: Readonly<Record<string, string>> = {
  authenticate: 'order',
  check: 'order',
  reserve: 'order',
  result: 'order',
  produce: 'order',
  match: 'produce',
  apply: 'match',
  store: 'match',
  tables: 'match',
  books: 'match',
  ledger: 'match',
  streams: 'match',
};
const services: Readonly<Record<string, string>> = {
  order: 'ingress',
  produce: 'ingress',
  match: 'matcher',
  tables: 'projectors',
  books: 'projectors',
  ledger: 'projectors',
  streams: 'streams',
};

let receiver: TraceReceiver;
let exchange: WholeExchange;
let trader: ExchangeClient;
let domain: SigningDomain;
let key: ApiKeyTrio;
const signer: Signer = walletFromPrivateKey(`0x${'5'.padStart(64, '8')}`);

beforeAll(async () => {
  receiver = await TraceReceiver.open();
  const traced = { PM_OTLP_URL: receiver.url, PM_TRACE_SHARE: String(share) };
  const env = Object.fromEntries(
    ['ingress', 'matcher', 'projectors', 'query-api', 'streams', 'gateway'].map((name) => [
      name,
      // The tests stand for a proxy that names its own trace.
      name === 'gateway' ? { ...traced, PM_TRUSTED_PROXIES: '127.0.0.1' } : traced,
    ]),
  );
  const markets = [{ slug: 'traced-0', question: 'Traced?', minOrderSize: '1' }];
  const events = [{ slug: 'traced', title: 'Traced', markets }];
  exchange = await WholeExchange.open('traced', { partitions: 1, events, env });
  trader = exchange.client(signer);
  domain = await trader.signingDomain();
  key = await trader.connect();
  await exchange.deposit([signer], '1000');
  const { baseUrls } = exchange;
  const free = async () => {
    const [answer] = await place([newOrder()]);
    return answer?.success === true ? [] : [`${answer?.code} at ${baseUrls[0]}`];
  };
  await untilNone('money of the trader', free, 60_000);
}, 300_000);

afterAll(async () => {
  await exchange?.close();
  await receiver?.close();
}, 60_000);

function newOrder(): BuiltOrder {
  const context = { signer, domain, negRisk: false, owner: key.apiKey, nowMs: Date.now() };
  const tokenId = exchange.markets[0]?.tokenIds[0] ?? '';
  return buildOrder({ tokenId, side: 'BUY', price: '0.10', size: '1' }, context);
}

const isTraced = ({ orderId }: BuiltOrder) =>
  Number.parseInt(orderId.slice(2, 10), 16) < share * drawn;

/** An order that is traced, or one that is not. */
function orderThatIs(traced: boolean): BuiltOrder {
  for (;;) {
    const order = newOrder();
    if (isTraced(order) === traced) return order;
  }
}

async function place(
  orders: readonly BuiltOrder[],
  more: Readonly<Record<string, string>> = {},
): Promise<readonly PlacementResult[]> {
  const body = JSON.stringify(orders.map(({ submission }) => submission));
  const holder = { ...key, address: signer.checksummed };
  const signed = signedHeaders(holder, { method: 'POST', path: '/orders', body }, Date.now());
  const response = await fetch(`${exchange.baseUrls[0]}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signed, ...more },
    body,
    signal: AbortSignal.timeout(20_000),
  });
  const answer = (await response.json()) as PlacementResult[] | { readonly code: string };
  return Array.isArray(answer) ? answer : [{ success: false, code: answer.code } as never];
}

const traceOf = ({ orderId }: BuiltOrder): readonly ReceivedSpan[] => {
  const traceId = orderId.slice(-32);
  return receiver.spans.filter((span) => span.traceId === traceId);
};

/** Resolves when the trace of the order has spans of all these names. */
function untilWhole(order: BuiltOrder, names: readonly string[]): Promise<void> {
  const missing = async () => {
    const found = new Set(traceOf(order).map(({ name }) => name));
    return names.filter((name) => !found.has(name));
  };
  return untilNone('spans of a traced order', missing, spansMaxMs);
}

const stages = ['order', ...Object.keys(parents)];

test('a traced order has one trace, from its request to its row, book, money and streams', async () => {
  const order = orderThatIs(true);
  expect((await place([order]))[0]?.status).toBe('live');
  await untilWhole(order, stages);
  const spans = traceOf(order);
  const byName = new Map(spans.map((span) => [span.name, span]));
  expect([...byName.keys()].sort()).toEqual([...stages].sort());
  for (const span of spans) {
    const parent = byName.get(parents[span.name] ?? '');
    expect([span.name, span.parentId]).toEqual([span.name, parent?.spanId ?? '']);
    expect([span.name, span.end >= span.start]).toEqual([span.name, true]);
    const service = services[span.name];
    if (service === undefined) continue;
    expect([span.name, span.service]).toEqual([span.name, service]);
    expect(span.attributes).toMatchObject({ 'pm.order.id': order.orderId, 'pm.partition': 0 });
  }
  // Processes of one machine share a clock up to some milliseconds.
  const startMs = (name: string) => Number(byName.get(name)?.start ?? 0n) / 1e6;
  const startsMs = ['order', 'produce', 'match', 'tables'].map(startMs);
  for (const [index, ms] of startsMs.slice(1).entries())
    expect(ms).toBeGreaterThan((startsMs[index] ?? 0) - 10);
  expect(byName.get('match')?.attributes['pm.sequence']).toBe(
    byName.get('produce')?.attributes['pm.sequence'],
  );
}, 120_000);

test('an order that is not in the share has no span, in a batch with one that is', async () => {
  const [traced, other] = [orderThatIs(true), orderThatIs(false)];
  const results = await place([other, traced]);
  expect(results.map(({ status }) => status)).toEqual(['live', 'live']);
  await untilWhole(traced, stages);
  expect(traceOf(other)).toEqual([]);
}, 120_000);

test('the trace of a trusted proxy goes on in the gateway and in ingress, which links to the order', async () => {
  const order = orderThatIs(true);
  const traceId = `${'c'.repeat(24)}00000000`;
  const caller = 'd'.repeat(16);
  await place([order], { traceparent: `00-${traceId}-${caller}-01` });
  await untilWhole(order, stages);
  const ofCaller = () => receiver.spans.filter((span) => span.traceId === traceId);
  await untilNone(
    'spans of the request',
    async () => (ofCaller().length < 2 ? ['gateway or ingress'] : []),
    spansMaxMs,
  );
  const [gateway, ingress] = ['gateway', 'ingress'].map((name) =>
    ofCaller().find(({ service }) => service === name),
  );
  expect([gateway?.name, gateway?.parentId]).toEqual(['POST /orders', caller]);
  expect([ingress?.name, ingress?.parentId]).toEqual(['POST /orders', gateway?.spanId]);
  const root = traceOf(order).find(({ name }) => name === 'order');
  expect(ingress?.links).toEqual([{ traceId: root?.traceId, spanId: root?.spanId }]);
  expect(root?.links).toEqual([{ traceId, spanId: ingress?.spanId }]);
}, 120_000);

test('no span has a key, a secret, a signature or a wallet', () => {
  const sent = receiver.bodies.join('\n').toLowerCase();
  const { apiKey, secret, passphrase } = key;
  expect(sent).toContain('pm.order.id');
  for (const word of [apiKey, secret, passphrase, signer.address, 'signature'])
    expect([word, sent.includes(word.toLowerCase())]).toEqual([word, false]);
});

test.each(['hangs', 'away'] as const)(
  'a receiver that %s changes no answer',
  async (how) => {
    if (how === 'hangs') receiver.mode = how;
    else await receiver.close();
    const orders = Array.from({ length: unseenOrders }, () => newOrder());
    for (const order of orders) {
      const [result] = await place([order]);
      expect([result?.success, result?.status, result?.orderID]).toEqual([
        true,
        'live',
        order.orderId,
      ]);
    }
    const last = orders.at(-1)?.orderId ?? '';
    const missing = async () => {
      for await (const { id } of trader.own.openOrders({ id: last })) if (id === last) return [];
      return [last];
    };
    await untilNone('the last order in the tables', missing, 60_000);
  },
  120_000,
);
