import { type HttpApp, openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import { microText } from '@pm/schemas/decimal';
import { hexBytes, parseWalletAddress } from '@pm/schemas/ids';
import type { Profile } from '@pm/schemas/log/profiles';
import { Dice } from '../../../kit/test/hostile/dice.ts';
import { addReadRoutes } from '../../src/http/app.route.ts';
import { KeptReads } from '../../src/tables/kept-reads.ts';
import { TableReads } from '../../src/tables/tables.io.ts';
import { unknownState } from '../../src/tables/tables-state.ts';
import { condition, get, nowMs, post, token, World, wallet } from '../in-memory.ts';

/** Reads kept for the state of the tables against the same reads of the tables, while tables and profiles change. */
const markets = [1, 2, 3];
const minuteS = 60;

interface Holder {
  readonly market: number;
  readonly outcome: 0 | 1;
  readonly wallet: string;
  readonly sizeMicro: number;
}

/** Tables of holders and midpoints, answered as their statements say. */
class StoredTables {
  readonly holders = new Map<string, Holder>();
  readonly midpoints = new Map<string, { market: number; bucket: number; priceMicro: number }>();
  /** Offset up to which records are in the tables. */
  offset = 1;
  statements = 0;

  async selectRows<T>(sql: string, params: Readonly<Record<string, unknown>> = {}): Promise<T[]> {
    this.statements += 1;
    if (sql.includes('FROM holders')) return this.#largest(params) as T[];
    if (sql.includes('FROM midpoints_1m')) return this.#buckets(params) as T[];
    return [];
  }

  #largest(params: Readonly<Record<string, unknown>>): object[] {
    const {
      markets: wanted,
      min,
      perToken,
    } = params as {
      markets: number[];
      min: string;
      perToken: number;
    };
    const tokens = wanted
      .flatMap((market) => [0, 1].map((outcome) => ({ market, outcome })))
      .sort((one, other) => one.market - other.market);
    return tokens.flatMap(({ market, outcome }) =>
      [...this.holders.values()]
        .filter((row) => row.market === market && row.outcome === outcome && row.sizeMicro > 0)
        .filter((row) => row.sizeMicro >= Number(min) * 1_000_000)
        .sort((one, other) =>
          one.sizeMicro === other.sizeMicro
            ? one.wallet < other.wallet
              ? -1
              : 1
            : other.sizeMicro - one.sizeMicro,
        )
        .slice(0, perToken)
        .map((row) => ({ market, outcome, wallet: row.wallet, size: microText(row.sizeMicro) })),
    );
  }

  #buckets(params: Readonly<Record<string, unknown>>): object[] {
    const {
      markets: wanted,
      from,
      to,
      step,
      since,
    } = params as {
      [name: string]: number;
    } & { markets: number[] };
    const newest = new Map<string, { market: number; bucket_s: number; price: string }>();
    const rows = [...this.midpoints.values()].sort((one, other) => one.bucket - other.bucket);
    for (const { market, bucket, priceMicro } of rows) {
      if (!wanted.includes(market) || bucket < (since ?? 0) || bucket >= (to ?? 0)) continue;
      const width = step ?? 1;
      const bucket_s = bucket < (from ?? 0) ? 0 : Math.floor(bucket / width) * width;
      const price = microText(priceMicro);
      newest.set(`${market}:${bucket_s}`, { market, bucket_s, price });
    }
    return [...newest.values()];
  }
}

function setUp() {
  const world = new World();
  const stored = new StoredTables();
  const clock = { nowMs };
  /** Progress of the tables that the process has read: first offset that they may lack; null while not known. */
  const known = { offset: 1 as number | null };
  const state = { storedOffset: () => known.offset, monotonicMs: () => clock.nowMs };
  const open = (tables: TableReads): HttpApp => {
    const app = openHttp({ log: silentLog, bodyLimitBytes: 128 * 1024 });
    addReadRoutes(app, { ...world.parts(), tables, nowMs: () => clock.nowMs });
    return app;
  };
  const kept = open(new TableReads(stored, state));
  const direct = open(new TableReads(stored, unknownState));
  return { world, stored, clock, known, kept, direct };
}

type Setting = ReturnType<typeof setUp>;

/** A record is applied to the tables. */
function change(dice: Dice, { stored }: Setting): void {
  const market = dice.pick(markets);
  stored.offset += 1;
  if (dice.isOneIn(2)) {
    const outcome = dice.below(2) as 0 | 1;
    const address = wallet(1 + dice.below(12));
    const sizeMicro = dice.below(6) * 500_000;
    const key = `${market}:${outcome}:${address}`;
    stored.holders.set(key, { market, outcome, wallet: address, sizeMicro });
  } else {
    const bucket = nowMs / 1000 - dice.below(3 * 1_440) * minuteS;
    const priceMicro = (1 + dice.below(9_999)) * 100;
    stored.midpoints.set(`${market}:${bucket}`, { market, bucket, priceMicro });
  }
}

function profileOf(dice: Dice): Profile {
  const address = parseWalletAddress(wallet(1 + dice.below(12)));
  return {
    kind: 'Profile',
    wallet: hexBytes(address ?? wallet(1)),
    name: `Name "é" ${dice.below(1_000)}`,
    bio: 'x',
    image: '',
    xName: '',
    showName: true,
    createdAtMs: 1,
  } as unknown as Profile;
}

function someUrl(dice: Dice): string {
  const chosen = markets.filter(() => dice.isOneIn(2));
  const list = (chosen.length === 0 ? markets : chosen).map(condition).join();
  const mount = dice.pick(['', '/data-api']);
  if (dice.isOneIn(2)) {
    const limit = dice.pick([1, 3, 20, 21, 100, 500]);
    return `${mount}/holders?market=${list}&limit=${limit}&minBalance=${dice.pick([0, 1, 1.5, 9])}`;
  }
  const id = token(dice.pick(markets), dice.below(2) as 0 | 1);
  const range = dice.pick(['interval=1d', 'interval=1h&fidelity=1', 'interval=max']);
  return `/prices-history?market=${id}&${range}`;
}

test.each([1, 2, 3])('what is kept says what a new read says (seed %p)', async (seed) => {
  const dice = new Dice(seed);
  const setting = setUp();
  const { world, stored, known, kept, direct, clock } = setting;
  for (let step = 0; step < 100; step += 1) {
    const changes = dice.isOneIn(2) ? dice.below(4) : 0;
    for (let index = 0; index < changes; index += 1) change(dice, setting);
    known.offset = dice.isOneIn(20) ? null : stored.offset;
    if (dice.isOneIn(2)) world.profiles.apply(profileOf(dice));
    if (dice.isOneIn(10)) clock.nowMs += dice.below(400_000);
    const url = someUrl(dice);
    expect((await get(kept, url)).text).toBe((await get(direct, url)).text);
    const body = { markets: [token(1, 0), token(2, 1), token(1, 0), '5'], interval: '1d' };
    const batch = await post(kept, '/batch-prices-history', body);
    expect(batch.text).toBe((await post(direct, '/batch-prices-history', body)).text);
  }
});

test('what is kept is never behind the progress that was known when it was requested', async () => {
  const dice = new Dice(4);
  const setting = setUp();
  const { stored, known, kept, direct } = setting;
  const url = `/holders?market=${condition(1)}&minBalance=0`;
  /** The answer by the offset up to which the tables had the records. */
  const answers = new Map<number, string>();
  for (let step = 0; step < 200; step += 1) {
    change(dice, setting);
    answers.set(stored.offset, (await get(direct, url)).text);
    if (dice.isOneIn(4)) known.offset = stored.offset;
    const { text } = await get(kept, url);
    const offsets = [...answers].filter(([, known]) => known === text).map(([offset]) => offset);
    expect(Math.max(...offsets)).toBeGreaterThanOrEqual(known.offset ?? 0);
  }
});

test('as long as the tables have nothing new, one statement serves all requests', async () => {
  const { stored, known, kept, clock } = setUp();
  const url = `/holders?market=${condition(1)}`;
  const seen = async (count: number, limit: number) => {
    for (let time = 0; time < 5; time += 1) await get(kept, `${url}&limit=${limit}`);
    expect(stored.statements).toBe(count);
  };
  await seen(1, 30);
  // Fewer are a part of what was read, more are not.
  await seen(1, 5);
  await seen(2, 101);
  known.offset = 2;
  await seen(3, 101);
  clock.nowMs += 60_000;
  await seen(4, 101);
  known.offset = null;
  await seen(9, 101);
});

test('requests that come together share a statement, and those after it need none', async () => {
  const { stored, kept, direct } = setUp();
  stored.midpoints.set('', { market: 1, bucket: nowMs / 1000 - 600, priceMicro: 500_000 });
  const url = `/prices-history?market=${token(1, 0)}&startTs=${nowMs / 1000 - 600}`;
  await get(direct, url);
  const ofOne = stored.statements;
  const answers = await Promise.all(Array.from({ length: 20 }, () => get(kept, url)));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  await get(kept, url);
  expect(stored.statements).toBe(2 * ofOne);
});

test('kept reads are bounded by their bytes, and what was kept first goes first', () => {
  const reads = new KeptReads<number>(1_000, () => 0);
  for (let index = 0; index < 50; index += 1) {
    reads.keep(`${index}`, 1, { value: index, bytes: 150 });
    expect(reads.bytes).toBeLessThanOrEqual(1_000);
  }
  expect([43, 44, 49].map((index) => reads.get(`${index}`, 1))).toEqual([undefined, 44, 49]);
  reads.keep('large', 1, { value: 1, bytes: 1_001 });
  reads.keep('49', 2, { value: 7, bytes: 150 });
  expect([reads.get('large', 1), reads.get('49', 1), reads.get('44', 1)]).toEqual([
    undefined,
    undefined,
    44,
  ]);
  expect(reads.bytes).toBe(750);
});
