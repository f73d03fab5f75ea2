import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CallToolResult, Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { ExchangeClient, walletFromPrivateKey } from '@pm/client';
import { silentLog } from '@pm/kit/log';
import { FakeExchange } from '../../client/test/fake-exchange.ts';
import { ServerFactory } from '../src/server/build-server.io.ts';
import { DaySpending } from '../src/trading/day-spending.io.ts';
import type { TradingLimits } from '../src/trading/limits.ts';
import { Trader } from '../src/trading/trader.io.ts';
import { declaredAnswer, fakeMarket } from './fake-reads.ts';

/** The error in the text of a refused call. */
export interface ToolError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** The structured result of a tool; fails the test when the call was refused. */
export async function resultOf<T>(
  client: Client,
  name: string,
  input: Record<string, unknown> = {},
): Promise<T> {
  const result = (await client.callTool({ name, arguments: input })) as CallToolResult;
  if (result.isError === true) throw new Error(textOf(result));
  expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
  return result.structuredContent as T;
}

/** The error of a call that has to be refused. */
export async function errorOf(
  client: Client,
  name: string,
  input: Record<string, unknown> = {},
): Promise<ToolError> {
  const result = (await client.callTool({ name, arguments: input })) as CallToolResult;
  expect(result.isError).toBe(true);
  expect(result.structuredContent).toBeUndefined();
  return (JSON.parse(textOf(result)) as { error: ToolError }).error;
}

function textOf({ content }: CallToolResult): string {
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}

const openLimits: TradingLimits = {
  perOrderMicro: 20_000_000,
  perDayMicro: 50_000_000,
  markets: new Set([fakeMarket.condition]),
};

const testKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

/** Compiles the schemas of all tools once. */
const servers = new ServerFactory(silentLog);

/** A server that trades on a fake exchange, with a clock that tests move, and a client of it. */
export class TradingSession {
  readonly fake: FakeExchange;
  readonly client: Client;
  readonly folder: string;
  /** Limits of the owner; they may change while the server runs. */
  readonly limits: { -readonly [Name in keyof TradingLimits]: TradingLimits[Name] };
  /** The digests that the wallet signed, as 0x-text. */
  readonly signed: readonly string[];
  readonly #clock: { nowMs: number };

  private constructor(
    parts: Pick<TradingSession, 'fake' | 'client' | 'folder' | 'limits' | 'signed'>,
    clock: {
      nowMs: number;
    },
  ) {
    this.fake = parts.fake;
    this.client = parts.client;
    this.folder = parts.folder;
    this.limits = parts.limits;
    this.signed = parts.signed;
    this.#clock = clock;
  }

  static async open(
    limits: Partial<TradingLimits> = {},
    folder = mkdtempSync(join(tmpdir(), 'mcp-')),
  ): Promise<TradingSession> {
    const fake = await FakeExchange.open();
    fake.answer = (heard) => {
      if (heard.path === '/orders/validate') return { status: 200, body: [validFinding] };
      if (heard.method === 'DELETE')
        return { status: 200, body: { canceled: ['0x1'], not_canceled: {} } };
      return declaredAnswer(heard);
    };
    const clock = { nowMs: 0 };
    const signed: string[] = [];
    const wallet = walletFromPrivateKey(testKey);
    const signer = {
      ...wallet,
      sign: (digest: Uint8Array) => {
        signed.push(`0x${Buffer.from(digest).toString('hex')}`);
        return wallet.sign(digest);
      },
    };
    const allLimits = { ...openLimits, ...limits };
    const spending = new DaySpending(folder, signer.address, allLimits);
    const nowMs = () => clock.nowMs;
    const baseUrl = fake.baseUrl;
    const trader = new Trader({ baseUrl, signer, limits: allLimits, spending, nowMs });
    const exchange = new ExchangeClient({ baseUrl });
    const session = { exchange, own: trader, trader, noTrading: 'trading_off' } as const;
    const server = servers.build(session);
    const [ofClient, ofServer] = InMemoryTransport.createLinkedPair();
    await server.connect(ofServer);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(ofClient);
    const parts = { fake, client, folder, limits: allLimits, signed };
    return new TradingSession(parts, clock);
  }

  pass(ms: number): void {
    this.#clock.nowMs += ms;
  }

  /** Previews an order; its id. */
  async preview(order: Record<string, unknown>): Promise<string> {
    const { preview_id } = await resultOf<{ preview_id: string }>(
      this.client,
      'preview_order',
      order,
    );
    return preview_id;
  }

  /** Closes everything but the folder. */
  async close(): Promise<void> {
    await this.client.close();
    await this.fake.close();
  }

  async end(): Promise<void> {
    await this.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const validFinding = { valid: true, errorMsg: '' };
