import { createHash } from 'node:crypto';
import type { ClickHouse } from '@pm/kit/clickhouse';
import type { RedisClient } from '@pm/kit/redis';
import {
  complementPrice,
  parseMicro,
  parsePrice,
  type RedisKeys,
  type TokenId,
  type WalletAddress,
} from '@pm/schemas';
import { tokenKey } from './accounts.ts';
import type { LogAudit } from './log-audit.ts';

/** A market as the comparison needs it. */
export interface AuditedMarket {
  readonly market: number;
  readonly tokenIds: readonly [TokenId, TokenId];
}

interface BookJson {
  readonly hash: string;
  readonly bids: readonly { price: string; size: string }[];
  readonly asks: readonly { price: string; size: string }[];
}

/** P2: the books in Redis, both tokens, are the levels the log adds up to, and their hashes are right. */
export async function compareBooks(
  redis: RedisClient,
  keys: RedisKeys,
  expected: { audit: LogAudit; markets: readonly AuditedMarket[] },
): Promise<string[]> {
  const wrong: string[] = [];
  for (const market of expected.markets) {
    const levels = expected.audit.levels.get(market.market) ?? new Map<string, number>();
    for (const outcome of [0, 1] as const) {
      const json = await redis.hget(keys.book(market.tokenIds[outcome]), 'json');
      const problem = json === null ? 'is missing' : problemOf(json, outcome, levels);
      if (problem !== null) wrong.push(`P2 book of market ${market.market}.${outcome} ${problem}`);
    }
  }
  return wrong;
}

function problemOf(
  json: string,
  outcome: 0 | 1,
  levels: ReadonlyMap<string, number>,
): string | null {
  const book = JSON.parse(json) as BookJson;
  const unhashed = json.replace(`"hash":"${book.hash}"`, '"hash":""');
  if (createHash('sha1').update(unhashed).digest('hex') !== book.hash) return 'has a wrong hash';
  const shown = new Map<string, number>();
  for (const [side, rows] of [
    ['BUY', book.bids],
    ['SELL', book.asks],
  ] as const) {
    for (const row of rows)
      shown.set(levelKey(side, row.price, outcome), parseMicro(row.size) ?? -1);
  }
  return equalMaps(shown, levels) ? null : 'differs from the log';
}

/** A level of either token in terms of token 0. */
function levelKey(side: 'BUY' | 'SELL', priceText: string, outcome: 0 | 1): string {
  const price = parsePrice(priceText) ?? -1;
  if (outcome === 0) return `${side} ${price}`;
  return `${side === 'BUY' ? 'SELL' : 'BUY'} ${complementPrice(price)}`;
}

function equalMaps(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean {
  return one.size === other.size && [...one].every(([key, value]) => other.get(key) === value);
}

/** The ledger: per wallet what deposits and the log add up to; nothing pending any more. */
export async function compareLedger(
  redis: RedisClient,
  keys: RedisKeys,
  expected: { audit: LogAudit; deposits: ReadonlyMap<string, number> },
): Promise<string[]> {
  const wrong: string[] = [];
  const wallets = new Set([...expected.audit.free.keys(), ...expected.deposits.keys()]);
  for (const wallet of wallets) {
    const fields = await redis.hgetall(keys.wallet(wallet as WalletAddress));
    const free = (expected.deposits.get(wallet) ?? 0) + (expected.audit.free.get(wallet) ?? 0);
    const held = expected.audit.held.get(wallet) ?? 0;
    const told = [fields['free'], fields['held'], fields['pending']].map((text) =>
      Number(text ?? 0),
    );
    if (told[0] !== free || told[1] !== held || told[2] !== 0) {
      wrong.push(`C2 ledger of ${wallet}: ${told.join(' ')} instead of ${free} ${held} 0`);
    }
    if (free < 0) wrong.push(`C2 ${wallet} overspent: ${free}`);
  }
  return wrong;
}

/** P1: ClickHouse says what the log says. */
export async function compareTables(
  clickhouse: ClickHouse,
  database: string,
  audit: LogAudit,
): Promise<string[]> {
  const counts = await selectCounts(clickhouse, database);
  const wrong: string[] = [];
  const expect = (name: string, told: number, owed: number) => {
    if (told !== owed) wrong.push(`P1 ${name}: ${told} instead of ${owed}`);
  };
  expect('fills', counts.fills, audit.fills);
  expect('wallet_fills', counts.walletFills, audit.fills * 2);
  expect('placed orders', counts.placed, audit.orders.size);
  expect('refused orders', counts.refused, audit.refused);
  wrong.push(...(await comparePositions(clickhouse, database, audit)));
  wrong.push(...(await compareBookEvents(clickhouse, database, audit)));
  return wrong;
}

async function selectCounts(clickhouse: ClickHouse, database: string) {
  const rows = await clickhouse.selectRows<Record<string, string>>(
    `SELECT
       (SELECT count() FROM ${database}.fills FINAL) AS fills,
       (SELECT count() FROM ${database}.wallet_fills FINAL) AS walletFills,
       (SELECT count() FROM ${database}.order_events FINAL WHERE kind = 'PLACED') AS placed,
       (SELECT count() FROM ${database}.order_events FINAL WHERE kind = 'REFUSED') AS refused`,
    {},
  );
  const row = rows[0] ?? {};
  const count = (name: string) => Number(row[name] ?? -1);
  return {
    fills: count('fills'),
    walletFills: count('walletFills'),
    placed: count('placed'),
    refused: count('refused'),
  };
}

async function comparePositions(
  clickhouse: ClickHouse,
  database: string,
  audit: LogAudit,
): Promise<string[]> {
  const told = new Map<string, number>();
  for (const table of ['positions', 'holders']) {
    told.clear();
    const rows = await clickhouse.selectRows<{
      wallet: string;
      market: number;
      outcome: number;
      size: string;
    }>(`SELECT wallet, market, outcome, size FROM ${database}.${table} FINAL WHERE size != 0`, {});
    for (const row of rows) {
      told.set(tokenKey(row.wallet, row.market, row.outcome), parseMicro(row.size) ?? -1);
    }
    if (!equalMaps(told, audit.accounts.tokens)) {
      return [
        `P1 ${table}: ${told.size} rows differ from ${audit.accounts.tokens.size} of the log`,
      ];
    }
  }
  return [];
}

async function compareBookEvents(
  clickhouse: ClickHouse,
  database: string,
  audit: LogAudit,
): Promise<string[]> {
  const rows = await clickhouse.selectRows<{
    market: number;
    side: string;
    price: string;
    size: string;
  }>(
    `SELECT market, side, price, argMax(size, (in_offset, event_index)) AS size
       FROM ${database}.book_events GROUP BY market, side, price HAVING size != 0`,
    {},
  );
  const told = new Map<string, number>();
  for (const row of rows) {
    told.set(
      `${row.market} ${row.side} ${parsePrice(trimZeros(row.price))}`,
      parseMicro(row.size) ?? -1,
    );
  }
  const owed = new Map<string, number>();
  for (const [market, levels] of audit.levels) {
    for (const [level, sizeMicro] of levels) owed.set(`${market} ${level}`, sizeMicro);
  }
  return equalMaps(told, owed)
    ? []
    : [`P1 book_events: ${told.size} levels, the log has ${owed.size}`];
}

/** Tables print four places whatever the price. */
function trimZeros(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}
