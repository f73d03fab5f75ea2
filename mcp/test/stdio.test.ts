import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { FakeExchange } from '../../client/test/fake-exchange.ts';
import { readStdioSettings } from '../src/stdio/settings.io.ts';
import { declaredAnswer, fakeMarket } from './fake-reads.ts';
import { errorOf, resultOf } from './trading-session.ts';

const key = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const program = join(__dirname, '../dist/stdio/serve.io.js');
const order = { token_id: fakeMarket.token, side: 'BUY', price: '0.52', size: '20' } as const;

const trading = {
  PM_MCP_WALLET_KEY: key,
  PM_MCP_ORDER_LIMIT_USDC: '20',
  PM_MCP_DAY_LIMIT_USDC: '50',
  PM_MCP_MARKETS: fakeMarket.condition,
};

let fake: FakeExchange;
let folder: string;

beforeAll(async () => {
  fake = await FakeExchange.open();
  fake.answer = (heard) =>
    heard.path === '/orders/validate'
      ? { status: 200, body: [{ valid: true, errorMsg: '' }] }
      : declaredAnswer(heard);
  folder = mkdtempSync(join(tmpdir(), 'mcp-stdio-'));
});

afterAll(async () => {
  await fake.close();
  rmSync(folder, { recursive: true, force: true });
});

async function connect(env: Record<string, string>, mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const { PATH = '' } = process.env;
  const all = { PATH, PM_EXCHANGE_URL: fake.baseUrl, PM_MCP_STATE_DIR: folder, ...env };
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program],
      env: all,
      stderr: 'ignore',
    }),
  );
  return client;
}

test.each(['legacy', 'auto'] as const)(
  'reads over stdio in the era %s; trading is off',
  async (mode) => {
    const client = await connect({}, mode);
    await client.listTools();
    await resultOf(client, 'get_market', { market: fakeMarket.condition });
    const input = { ...order, preview_id: 'x' };
    expect((await errorOf(client, 'place_order', input)).code).toBe('trading_off');
    expect((await errorOf(client, 'get_balances')).code).toBe('no_own_wallet');
    await client.close();
  },
);

test('trades over stdio with a wallet key and limits', async () => {
  const client = await connect(trading, 'auto');
  const preview = await resultOf<{ preview_id: string }>(client, 'preview_order', order);
  const { preview_id } = preview;
  await resultOf(client, 'place_order', { ...order, preview_id });
  expect(fake.booked.size).toBe(1);
  await client.close();
});

describe('settings', () => {
  test('without a key nothing is traded', () => {
    expect(readStdioSettings({}).trading).toBeNull();
  });

  test.each(['PM_MCP_ORDER_LIMIT_USDC', 'PM_MCP_DAY_LIMIT_USDC', 'PM_MCP_MARKETS'] as const)(
    'a key without %s is refused',
    (name) => {
      expect(() => readStdioSettings({ ...trading, [name]: '' })).toThrow(name);
      if (name !== 'PM_MCP_MARKETS') {
        expect(() => readStdioSettings({ ...trading, [name]: '0' })).toThrow(name);
      }
    },
  );

  test('a misspelt limit is refused, and no message shows the key', () => {
    const misspelt = { ...trading, PM_MCP_ORDER_LIMIT: '5' };
    expect(() => readStdioSettings(misspelt)).toThrow('invalid_config');
    const wrong = { ...trading, PM_MCP_WALLET_KEY: `${key}0` };
    let shown = '';
    try {
      readStdioSettings(wrong);
    } catch (error) {
      shown = JSON.stringify({ ...(error as object), message: String(error) });
    }
    expect(shown).toContain('PM_MCP_WALLET_KEY');
    expect(shown).not.toContain('ac0974bec');
  });

  test('a key file is for its owner alone', () => {
    const file = join(folder, 'wallet.key');
    writeFileSync(file, `${key}\n`, { mode: 0o600 });
    const env = { ...trading, PM_MCP_WALLET_KEY: '', PM_MCP_WALLET_KEY_FILE: file };
    const settings = readStdioSettings(env).trading;
    expect(settings?.signer.address).toBe('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266');
    expect(settings?.limits).toEqual({
      perOrderMicro: 20_000_000,
      perDayMicro: 50_000_000,
      markets: new Set([fakeMarket.condition]),
    });
    chmodSync(file, 0o640);
    expect(() => readStdioSettings(env)).toThrow('others may read');
    expect(() => readStdioSettings({ ...env, PM_MCP_WALLET_KEY: key })).toThrow('not both');
  });
});
