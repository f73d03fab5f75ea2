import { createHash } from 'node:crypto';
import { parseMicro, parsePrice } from '@pm/schemas/decimal';
import type { TokenId, WalletAddress } from '@pm/schemas/ids';
import { complementPrice } from '@pm/schemas/money';
import type { RedisKeys } from '@pm/schemas/redis/keys';
import { BookLevels } from './book-levels.ts';
import type { LogAudit } from './log-audit.ts';

/**
 * A difference and its subject: a wallet, a market, an order or a token (`tokenKey`); null when no later record can
 * explain it.
 */
export interface Mismatch {
  readonly about: string | null;
  readonly text: string;
}

/** Number and tokens of a market. */
export interface AuditedMarket {
  readonly market: number;
  readonly tokenIds: readonly [TokenId, TokenId];
}

/** The reads of Redis that the comparison uses. */
export interface RedisReader {
  hget(key: string, field: string): Promise<string | null>;
  hgetall(key: string): Promise<Record<string, string>>;
}

interface BookJson {
  readonly hash: string;
  readonly bids: readonly { price: string; size: string }[];
  readonly asks: readonly { price: string; size: string }[];
}

/** P2: the books in Redis, both tokens, are the levels the log adds up to, and their hashes are right. */
export async function compareBooks(
  redis: Pick<RedisReader, 'hget'>,
  keys: RedisKeys,
  expected: { audit: Pick<LogAudit, 'levels'>; markets: readonly AuditedMarket[] },
): Promise<Mismatch[]> {
  const wrong: Mismatch[] = [];
  for (const market of expected.markets) {
    const levels = expected.audit.levels.get(market.market) ?? new BookLevels();
    for (const outcome of [0, 1] as const) {
      const json = await redis.hget(keys.book(market.tokenIds[outcome]), 'json');
      const problem = json === null ? 'is missing' : problemOf(json, outcome, levels);
      if (problem === null) continue;
      const text = `P2 book of market ${market.market}.${outcome} ${problem}`;
      wrong.push({ about: String(market.market), text });
    }
  }
  return wrong;
}

function problemOf(json: string, outcome: 0 | 1, { bids, asks }: BookLevels): string | null {
  const book = JSON.parse(json) as BookJson;
  const unhashed = json.replace(`"hash":"${book.hash}"`, '"hash":""');
  if (createHash('sha1').update(unhashed).digest('hex') !== book.hash) return 'has a wrong hash';
  const [shownBids, shownAsks] = [sizesOf(book.bids, outcome), sizesOf(book.asks, outcome)];
  const isSame =
    outcome === 0
      ? equalMaps(shownBids, bids.sizes) && equalMaps(shownAsks, asks.sizes)
      : equalMaps(shownBids, asks.sizes) && equalMaps(shownAsks, bids.sizes);
  return isSame ? null : 'differs from the log';
}

/** Levels of either token by the price of token 0. */
function sizesOf(rows: BookJson['bids'], outcome: 0 | 1): ReadonlyMap<number, number> {
  const sizes = rows.map((row) => {
    const price = parsePrice(row.price) ?? -1;
    return [outcome === 0 ? price : complementPrice(price), parseMicro(row.size) ?? -1] as const;
  });
  return new Map(sizes);
}

function equalMaps(one: ReadonlyMap<number, number>, other: ReadonlyMap<number, number>): boolean {
  return one.size === other.size && [...one].every(([key, value]) => other.get(key) === value);
}

/**
 * C2: the ledger of each wallet is what deposits and the log add up to; nothing is pending when all orders have results
 * (`isQuiet`).
 */
export async function compareLedger(
  redis: Pick<RedisReader, 'hgetall'>,
  keys: RedisKeys,
  expected: {
    audit: Pick<LogAudit, 'free' | 'held'>;
    deposits: ReadonlyMap<string, number>;
    isQuiet: boolean;
  },
): Promise<Mismatch[]> {
  const wrong: Mismatch[] = [];
  const wallets = new Set([...expected.audit.free.keys(), ...expected.deposits.keys()]);
  for (const wallet of wallets) {
    const fields = await redis.hgetall(keys.wallet(wallet as WalletAddress));
    const free = (expected.deposits.get(wallet) ?? 0) + (expected.audit.free.get(wallet) ?? 0);
    const held = expected.audit.held.get(wallet) ?? 0;
    const found = [fields['free'], fields['held'], fields['pending']].map((text) =>
      Number(text ?? 0),
    );
    if (found[0] !== free || found[1] !== held || (expected.isQuiet && found[2] !== 0)) {
      const text = `C2 ledger of ${wallet}: ${found.join(' ')} instead of ${free} ${held} 0`;
      wrong.push({ about: wallet, text });
    }
    if (free < 0) wrong.push({ about: wallet, text: `C2 ${wallet} overspent: ${free}` });
  }
  return wrong;
}
