import { positionSorts } from '@pm/schemas/http/report-choices';
import { condition, get, marketEntry, openListener, World, wallet } from '../in-memory.ts';
import { type Page, walked } from '../walked.ts';

/**
 * Lists that query-api itself sorts and cuts: each entry is on one page, although all tie in what they are sorted by.
 */
const user = wallet(1);
const markets = [1, 2, 3, 4];
const alike = { question: 'Alike?', endDateMs: Date.UTC(2026, 11, 1) };
const due = markets.flatMap((market) => [`${condition(market)}:0`, `${condition(market)}:1`]);
const directions = ['ASC', 'DESC'] as const;

function worldOfTies(): World {
  const world = new World();
  for (const market of markets) world.catalog.apply(marketEntry(market, alike));
  const row = {
    sizeMicro: 2_000_000,
    costMicro: 1_000_000,
    totalBoughtMicro: 3_000_000,
    updatedS: 7,
    sharesBoughtMicro: 6_000_000,
    realizedMicro: 5,
  };
  // In an order of its own: neither that of markets nor that of ids.
  for (const market of [3, 1, 4, 2]) {
    for (const outcome of [1, 0] as const) {
      world.positions.push({ ...row, market, outcome });
      world.closed.push({ ...row, market, outcome, sizeMicro: 0 });
    }
  }
  return world;
}

const app = openListener(worldOfTies());
afterAll(() => app.close());

async function expectEachOnce(path: string): Promise<void> {
  const read = async ({ limit, offset }: Page) => {
    const { body } = await get(app, `${path}&limit=${limit}&offset=${offset}`);
    return (body as readonly { asset: string }[]).map(({ asset }) => asset);
  };
  for (let limit = 1; limit <= due.length; limit += 1) {
    expect([limit, await walked(limit, read)]).toEqual([limit, due]);
  }
}

const ways = (columns: readonly string[]) =>
  columns.flatMap((column) => directions.map((direction) => [column, direction] as const));

it.each(ways(positionSorts))(
  '/positions by %s %s shows each position once',
  async (by, direction) => {
    await expectEachOnce(`/positions?user=${user}&sortBy=${by}&sortDirection=${direction}`);
  },
);

it.each(ways(['REALIZEDPNL', 'TITLE', 'PRICE', 'AVGPRICE', 'TIMESTAMP']))(
  '/closed-positions by %s %s shows each position once',
  async (by, direction) => {
    await expectEachOnce(`/closed-positions?user=${user}&sortBy=${by}&sortDirection=${direction}`);
  },
);

/** Two pages and one market more. */
const manyMarkets = 1_001;

function worldOfMany(): World {
  const world = new World();
  for (let market = manyMarkets; market > 0; market -= 1) world.catalog.apply(marketEntry(market));
  world.catalog.takeFigures(new Map());
  return world;
}

const many = openListener(worldOfMany());
afterAll(() => many.close());
const paged = [
  ...['/rewards/markets/current', '/rewards/markets/multi', '/sampling-markets'],
  ...['/simplified-markets', '/markets'],
];
const cursorNames = ['next_cursor', 'after_cursor', 'cursor'];

it.each(paged.flatMap((path) => cursorNames.map((name) => [path, name] as const)))(
  '%s shows each market once, by %s',
  async (path, name) => {
    const seen: string[] = [];
    for (let cursor = 'MA=='; cursor !== 'LTE='; ) {
      const { body } = await get(many, `${path}?${name}=${cursor}`);
      const page = body as { data: readonly { condition_id: string }[]; next_cursor: string };
      seen.push(...page.data.map((entry) => entry.condition_id));
      expect(seen.length).toBeLessThanOrEqual(manyMarkets);
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(Array.from({ length: manyMarkets }, (_, at) => condition(at + 1)));
  },
);

const invalidCursor = { status: 400, body: { error: 'invalid next_cursor' } };

it.each(paged)('%s takes no two cursors', async (path) => {
  const answer = await get(many, `${path}?next_cursor=MA==&cursor=LTE=`);
  expect(answer).toMatchObject(invalidCursor);
});

it('a cursor of rewarded markets belongs to its list and its filters', async () => {
  const conditions = Array.from({ length: 500 }, (_, at) => condition(at + 1)).join(',');
  const { body } = await get(many, '/rewards/markets/multi');
  const cursor = (body as { next_cursor: string }).next_cursor;
  for (const other of [
    `multi?condition_ids=${conditions}&next_cursor=${cursor}`,
    `current?next_cursor=${cursor}`,
  ])
    expect(await get(many, `/rewards/markets/${other}`)).toMatchObject(invalidCursor);
});
