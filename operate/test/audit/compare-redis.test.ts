import { createHash } from 'node:crypto';
import type { TokenId } from '@pm/schemas/ids';
import { redisKeys } from '@pm/schemas/redis/keys';
import { BookLevels } from '../../src/audit/book-levels.ts';
import { compareBooks, compareLedger } from '../../src/audit/compare-redis.ts';
import { compareLedgerQuery } from '../../src/audit/ledger-sample.ts';
import { Positions } from '../../src/audit/positions.ts';

const keys = redisKeys('pm');
const share = 1_000_000;
const tokenIds = ['11', '22'] as unknown as readonly [TokenId, TokenId];
const markets = [{ market: 7, tokenIds }];

/** The bytes of a book with a right hash. */
function bookJson(bids: object, asks: object): string {
  const unhashed = JSON.stringify({ hash: '', bids, asks });
  const hash = createHash('sha1').update(unhashed).digest('hex');
  return unhashed.replace('"hash":""', `"hash":"${hash}"`);
}

const level = (price: string, size: string) => [{ price, size }];
const sound = {
  '11': bookJson(level('0.4', '3'), level('0.55', '2')),
  '22': bookJson(level('0.45', '2'), level('0.6', '3')),
};

async function wrongBooks(books: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const levels = new BookLevels();
  levels.set('BUY', 4_000, 3 * share);
  levels.set('SELL', 5_500, 2 * share);
  const redis = { hget: async (key: string) => books[key.replace('pm:book:', '')] ?? null };
  const expected = { audit: { levels: new Map([[7, levels]]) }, markets };
  return (await compareBooks(redis, keys, expected)).map(({ text }) => text);
}

test('books are the levels of the log, both tokens, with right hashes', async () => {
  expect(await wrongBooks(sound)).toEqual([]);
  expect(await wrongBooks({ ...sound, '22': sound['11'] })).toEqual([
    'P2 book of market 7.1 differs from the log',
  ]);
  const otherSize = bookJson(level('0.4', '3.01'), level('0.55', '2'));
  expect(await wrongBooks({ ...sound, '11': otherSize })).toHaveLength(1);
  const swapped = bookJson(level('0.55', '2'), level('0.4', '3'));
  expect(await wrongBooks({ ...sound, '11': swapped })).toHaveLength(1);
  expect(await wrongBooks({ ...sound, '11': sound['11'].replace('0.4', '0.3') })).toEqual([
    'P2 book of market 7.0 has a wrong hash',
  ]);
  expect(await wrongBooks({ '11': sound['11'] })).toEqual(['P2 book of market 7.1 is missing']);
});

async function wrongMoney(fields: Record<string, string>, freeMicro = 60): Promise<number> {
  const wallet = '0xabc';
  const audit = { free: new Map([[wallet, freeMicro - 100]]), held: new Map([[wallet, 40]]) };
  const expected = { audit, deposits: new Map([[wallet, 100]]), isQuiet: true };
  return (await compareLedger({ hgetall: async () => fields }, keys, expected)).length;
}

test('the ledger is deposits and the log, with nothing pending, and no wallet has overspent', async () => {
  const whole = { free: '60', held: '40', pending: '0' };
  expect(await wrongMoney(whole)).toBe(0);
  expect(await wrongMoney({ ...whole, free: '61' })).toBe(1);
  expect(await wrongMoney({ ...whole, held: '39' })).toBe(1);
  expect(await wrongMoney({ ...whole, pending: '1' })).toBe(1);
  expect(await wrongMoney({})).toBe(1);
  expect(await wrongMoney({ ...whole, free: '-1' }, -1)).toBe(1);
});

describe('the ledger query', () => {
  const positions = new Positions();
  const source = { partition: 0, inOffset: 1, timeMs: 0 };
  for (let wallet = 0; wallet < 50; wallet += 1)
    positions.apply(
      {
        wallet: `0x${wallet}`,
        market: 7,
        outcome: 0,
        side: 'BUY',
        isTrade: true,
        sizeMicro: share,
        price: 5_000,
      },
      source,
    );
  const row = { market: 7, outcome: 0, size_micro: '1000000', cost_micro: '500000' };
  const right = { ...row, bought_micro: '500000', realized_micro: '0' };

  /** Wallets of the query, and those that are wrong. */
  async function asked(seed: number, answer: readonly object[]) {
    const wallets: unknown[] = [];
    const reader = {
      async selectRows<T>(_sql: string, params: object = {}) {
        wallets.push(...Object.values(params));
        return answer as readonly T[];
      },
    };
    return { wallets, wrong: await compareLedgerQuery(reader, positions, seed) };
  }

  test('is run for wallets that follow from the seed', async () => {
    const first = await asked(1, [right]);
    expect(first.wrong).toEqual([]);
    expect(new Set(first.wallets).size).toBe(20);
    expect((await asked(1, [right])).wallets).toEqual(first.wallets);
    expect((await asked(2, [right])).wallets).not.toEqual(first.wallets);
  });

  test.each(['size_micro', 'cost_micro', 'bought_micro', 'realized_micro'])(
    'is found wrong by a micro-unit of %s',
    async (figure) => {
      const { wrong, wallets } = await asked(3, [{ ...right, [figure]: '7' }]);
      expect(wrong).toHaveLength(wallets.length);
      expect(wrong[0]?.about).toBe(`${wallets[0]} 7 0`);
    },
  );

  test('differs by a token that is missing, or was never held', async () => {
    expect((await asked(3, [])).wrong).toHaveLength(20);
    expect((await asked(3, [right, { ...right, market: 8 }])).wrong).toHaveLength(20);
  });
});
