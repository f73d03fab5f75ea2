import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ExchangeClient, walletFromPrivateKey } from '@pm/client';
import { testAccountKeys } from '@pm/deploy/demo/wallets';
import { freePorts } from '@pm/deploy/local/ports';
import { wideLimits } from '@pm/deploy/stack/services';
import { type RunningStack, startStack } from '@pm/deploy/stack/stack';
import { engineUrls } from '../../acceptance/test/services-under-test.ts';
import { connectHttp, eras } from './http-server.ts';
import { errorOf, resultOf } from './trading-session.ts';

/** Agents against a whole stack: a session over stdio from search to cancel, and reads through the gateway. */
const [agentKey, makerKey] = testAccountKeys;
const maker = walletFromPrivateKey(makerKey);
const agent = walletFromPrivateKey(agentKey);
const program = join(__dirname, '../dist/stdio/serve.io.js');

let stack: RunningStack;
let folder: string;
let token: string;
let condition: string;
let other: { readonly token: string; readonly condition: string };
let makerClient: ExchangeClient;
const clients: Client[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mcp-session-'));
  stack = await startStack({
    mode: { kind: 'external', urls: engineUrls(), access: {} },
    dataDir: folder,
    ports: await freePorts(),
    progress: () => {},
    fresh: false,
    seed: false,
    demo: null,
    partitions: 2,
    extraEnv: wideLimits,
  });
  const names = ['agents-trade', 'agents-do-not-trade'];
  const markets = names.map((slug) => ({ slug, question: `Does ${slug} work?`, feeRateBps: 441 }));
  const listed = await stack.operator.importEvents([
    { slug: 'zebra', title: 'Zebra crossing of agents', markets },
  ]);
  const [first, second] = listed.markets;
  token = first?.tokenIds[0] ?? '';
  condition = first?.conditionId ?? '';
  other = { token: second?.tokenIds[0] ?? '', condition: second?.conditionId ?? '' };
  await stack.operator.deposit(
    [agent, maker].map(({ address }, index) => ({
      transferId: `0x${String(index + 1).padStart(64, '0')}`,
      wallet: address,
      amount: '1000',
    })),
  );
  makerClient = new ExchangeClient({ baseUrl: stack.baseUrl, signer: maker });
  await makerClient.connect();
  await makerClient.account.split({ conditionId: condition, amount: '100' });
  for (const [price, size] of [
    ['0.50', '10'],
    ['0.55', '50'],
  ] as const) {
    const placed = await makerClient.placeOrder({ tokenId: token, side: 'SELL', price, size });
    expect(placed).toMatchObject({ success: true, status: 'live' });
  }
}, 240_000);

afterAll(async () => {
  for (const client of clients) await client.close();
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function openAgent(limits: Record<string, string> = {}): Promise<Client> {
  const client = new Client(
    { name: 'agent', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  );
  const { PATH = '' } = process.env;
  const env = {
    PATH,
    PM_EXCHANGE_URL: stack.baseUrl,
    PM_MCP_STATE_DIR: join(folder, 'spending'),
    PM_MCP_WALLET_KEY: agentKey,
    PM_MCP_ORDER_LIMIT_USDC: '20',
    PM_MCP_DAY_LIMIT_USDC: '100',
    PM_MCP_MARKETS: condition,
    ...limits,
  };
  const args = [program];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, stderr: 'inherit' }),
  );
  clients.push(client);
  await client.listTools();
  return client;
}

/** Calls until the tables have what is asked for. */
async function eventually<T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 100; tries += 1) {
    const value = await read();
    if (isSo(value)) return value;
    await wait(200);
  }
  throw new Error('it did not become so in time');
}

test('an agent finds a market, previews, places, sees the fill, and cancels the rest', async () => {
  const client = await openAgent();
  type Found = { events: { markets: { condition_id: string; slug: string }[] }[] };
  const found = await eventually(
    () => resultOf<Found>(client, 'search_markets', { query: 'zebra' }),
    ({ events }) => events.length === 1,
  );
  const [listed] = found.events[0]?.markets.filter(({ slug }) => slug === 'agents-trade') ?? [];
  expect(listed?.condition_id).toBe(condition);
  const market = await resultOf<{ outcomes: { token_id: string }[] }>(client, 'get_market', {
    market: condition,
  });
  expect(market).toMatchObject({ accepting_orders: true, taker_fee_rate_bps: 441 });
  expect(market.outcomes[0]?.token_id).toBe(token);
  const order = { token_id: token, side: 'BUY', price: '0.50', size: '15' };
  type Preview = { preview_id: string; usdc: string; fee: string; checks: unknown };
  const preview = await eventually(
    () => resultOf<Preview>(client, 'preview_order', order),
    ({ usdc }) => usdc === '5',
  );
  expect(preview).toMatchObject({ placeable: true, expected: 'fills_and_rests', rest: '5' });
  expect(preview.fee).toBe('0.11025');
  type Placed = { order_id: string; status: string; gave: string; got: string };
  const input = { ...order, preview_id: preview.preview_id };
  const placed = await resultOf<Placed>(client, 'place_order', input);
  expect(placed).toMatchObject({ got: '10', day_limit_usdc: '100' });
  const again = { ...placed, repeated: true, alive: true };
  expect(await resultOf<Placed>(client, 'place_order', input)).toEqual(again);
  const { order_id } = placed;
  const stored = await resultOf(client, 'get_order', { order_id });
  expect(stored).toMatchObject({ status: 'LIVE', size_matched: '10', size: '15' });
  // The fill and its fee are those of the preview.
  type Balances = { wallets: { usdc: { total: string } }[] };
  await eventually(
    () => resultOf<Balances>(client, 'get_balances'),
    ({ wallets }) => wallets[0]?.usdc.total === '994.88975',
  );
  const trades = await eventually(
    () => resultOf<{ trades: unknown[] }>(client, 'get_trades', { market: condition }),
    (value) => value.trades.length === 1,
  );
  expect(trades.trades[0]).toMatchObject({ price: '0.5', size: '10', wallet: agent.checksummed });
  await eventually(
    () => resultOf<{ positions: { size: string }[] }>(client, 'get_positions'),
    ({ positions }) => positions[0]?.size === '10',
  );
  const canceled = await resultOf(client, 'cancel_orders', { order_ids: [order_id] });
  expect(canceled).toEqual({ canceled: [order_id], not_canceled: [] });
  const ended = await resultOf(client, 'get_order', { order_id });
  expect(ended).toMatchObject({ status: 'CANCELED', size_matched: '10' });
}, 120_000);

test('the limits of the owner hold', async () => {
  const small = { token_id: token, side: 'BUY', price: '0.10', size: '10' };
  type Previewed = { preview_id: string | null; checks: { ok: boolean; code: string | null }[] };
  const preview = async (limits: Record<string, string>, order: Record<string, unknown>) => {
    const client = await openAgent(limits);
    const { preview_id, checks } = await resultOf<Previewed>(client, 'preview_order', order);
    const failed = checks.filter(({ ok }) => ok === false).map(({ code }) => code);
    return { client, preview_id, failed };
  };
  for (const [code, limits, order] of [
    ['order_too_large', {}, { ...small, size: '200' }],
    ['day_limit_reached', { PM_MCP_DAY_LIMIT_USDC: '8' }, small],
    ['market_not_allowed', {}, { ...small, token_id: other.token }],
  ] as const)
    expect(await preview(limits, order)).toMatchObject({ preview_id: null, failed: [code] });
  const { client, preview_id } = await preview({}, small);
  const differs = await errorOf(client, 'place_order', { ...small, preview_id, price: '0.11' });
  expect(differs.code).toBe('preview_differs');
  const off = { PM_MCP_WALLET_KEY: '' };
  const reader = await openAgent(off);
  const error = await errorOf(reader, 'place_order', { ...small, preview_id: 'x' });
  expect(error.code).toBe('trading_off');
  expect((await makerClient.book(token)).bids).toEqual([]);
}, 120_000);

test.each(eras)(
  'through the gateway the era %s reads, also the past, and never trades',
  async (era) => {
    const client = await connectHttp(`${stack.baseUrl}/mcp`, { era });
    clients.push(client);
    await client.listTools();
    type Book = { hash: string; time: string; asks: { price: string; size: string }[] };
    const now = await resultOf<Book>(client, 'get_book', { token_id: token });
    expect(now.asks).toEqual([{ price: '0.55', size: '50' }]);
    const past = await eventually(
      async () => {
        const at = { token_id: token, at: now.time };
        return await resultOf<Book>(client, 'get_book', at).catch(() => null);
      },
      (book) => book !== null,
    );
    expect(past?.hash).toBe(now.hash);
    await resultOf(client, 'get_price_history', { token_id: token, interval: 'max' });
    const { contents } = await client.readResource({ uri: 'exchange://openapi' });
    const [document] = contents;
    expect(document !== undefined && 'text' in document && document.text).toContain('"3.1.0"');
    const order = { token_id: token, side: 'BUY', price: '0.50', size: '15', preview_id: 'x' };
    expect((await errorOf(client, 'place_order', order)).code).toBe('trading_not_here');
  },
  120_000,
);
