import { noQuote } from '@pm/domain/books/quote';
import { noFigures, noMoves } from '@pm/domain/markets/figures';
import type { BuilderRow, TradeRow } from '@pm/domain/reports/rows';
import {
  Activity,
  BuilderTrade,
  ClosedPosition,
  LeaderboardEntry,
  MarketPosition,
  PublicTrade,
} from '@pm/schemas/http/reports';
import { Value } from 'typebox/value';
import { appOf, condition, get, marketEntry, nowMs, token, World, wallet } from '../in-memory.ts';

const user = wallet(1);
const place = { partition: 0, inOffset: '41', eventIndex: 2, timeMs: nowMs - 1_500 };
const trade: TradeRow = {
  ...place,
  wallet: user,
  market: 1,
  outcome: 1,
  side: 'SELL',
  price: 6_150,
  sizeMicro: 2_500_000,
};
const side = { order: '0x1', wallet: user, outcome: 0, side: 'BUY', price: 4_000 } as const;
const builderRow: BuilderRow = {
  ...place,
  role: 'MAKER',
  builder: condition(9),
  market: 1,
  sizeMicro: 2_000_000,
  feeMicro: 30,
  feeRateBps: 441,
  taker: { ...side, wallet: wallet(2) },
  maker: side,
};

let world: World;
beforeEach(() => {
  world = new World();
});
const ask = (url: string) => get(appOf(world), url);
const empty = new World();
/** The app over a world in which nothing happened. */
const askEmpty = (url: string) => get(appOf(empty), url);
const first = (body: unknown): unknown => (body as readonly unknown[])[0];

describe('public trades', () => {
  it.each(['/markets/live-activity', '/clob/markets/live-activity', '/live-activity/events'])(
    'are the feed of %s, with who took them',
    async (path) => {
      world.tape.push(trade);
      const { body } = await ask(`${path}/${condition(1)}`);
      expect(body).toMatchObject([
        {
          event_type: 'trade',
          market: { condition_id: condition(1), asset_id: token(1, 1) },
          user: { address: user, username: '', profile_picture: '' },
          side: 'SELL',
          size: '2.5',
          price: '0.615',
          outcome: 'No',
          outcome_index: 1,
          transaction_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
          timestamp: String(Math.floor(trade.timeMs / 1000)),
        },
      ]);
      for (const unknown of [condition(99), '0x01', '%27']) {
        expect((await ask(`${path}/${unknown}`)).body).toEqual([]);
      }
    },
  );

  it('name tokens by condition and index at the root and by number under the mount', async () => {
    world.tape.push(trade);
    const root = await ask('/trades');
    const mount = await ask('/data-api/trades?whatever=1');
    expect(Value.Check(PublicTrade, first(root.body))).toBe(true);
    expect(first(root.body)).toMatchObject({
      asset: `${condition(1)}:1`,
      price: 0.615,
      size: 2.5,
      usdcSize: 1.5375,
      side: 'SELL',
      outcome: 'No',
    });
    expect(first(mount.body)).toMatchObject({ asset: token(1, 1) });
  });

  it.each([
    ['/trades?x=1', 'unknown_field: x'],
    ['/trades?limit=10001', 'invalid_field: limit'],
    ['/trades?filterType=CASH', 'missing_field: filterAmount'],
    ['/activity', 'missing_field: user'],
    [`/activity?user=${user}&type=NOTHING`, 'invalid_field: type'],
    ['/closed-positions', 'missing_field: user'],
    [`/closed-positions?user=${user}&limit=51`, 'invalid_field: limit'],
    ['/value', 'missing_field: user'],
    ['/traded?user=x', 'invalid_field: user'],
    ['/oi?y=', 'unknown_field: y'],
    ['/live-volume', 'missing_field: id'],
    ['/v1/market-positions', 'missing_field: market'],
    ['/v1/builders/leaderboard?timePeriod=YEAR', 'invalid_field: timePeriod'],
    ['/v1/builders/volume?timePeriod=YEAR', 'invalid_field: timePeriod'],
    ['/v1/builders/volume?limit=1', 'unknown_field: limit'],
    ['/v1/builders/volume?offset=1', 'unknown_field: offset'],
    ['/builder/trades?market=1', 'invalid builder trade params'],
    [`/builder/trades?asset_id=${condition(1)}:2`, 'invalid builder trade params'],
    ['/builder/trades?next_cursor=x', 'invalid next_cursor'],
    ['/fees/builder-fees/1', 'invalid builder code'],
    ['/rebates/current', 'maker_address is required'],
  ])('%s is refused: %s', async (url, error) => {
    const answer = await askEmpty(url);
    expect([answer.status, answer.body]).toEqual([400, { error }]);
  });

  // As limits.md says.
  it.each([
    [`/positions?user=${user}`, 500, 10_000],
    [`/activity?user=${user}`, 500, 10_000],
    ['/trades?', 10_000, 10_000],
    [`/closed-positions?user=${user}`, 50, 100_000],
    [`/v1/market-positions?market=${condition(1)}`, 500, 10_000],
    ['/v1/leaderboard?', 50, 1_000],
    ['/v1/builders/leaderboard?', 50, 1_000],
  ])('%s takes pages of %d rows after %d, and no larger ones', async (path, limit, offset) => {
    const largest = await askEmpty(`${path}&limit=${limit}&offset=${offset}`);
    expect([largest.status, largest.body]).toEqual([200, expect.any(Array)]);
    const wider = await askEmpty(`${path}&limit=${limit + 1}`);
    expect([wider.status, wider.body]).toEqual([400, { error: 'invalid_field: limit' }]);
    const deeper = await askEmpty(`${path}&offset=${offset + 1}`);
    expect([deeper.status, deeper.body]).toEqual([400, { error: 'invalid_field: offset' }]);
  });

  it('read no table where nothing can be found', async () => {
    for (const url of ['/trades?limit=0', `/trades?market=${condition(99)}`, '/trades?eventId=99'])
      expect((await ask(url)).body).toEqual([]);
    expect(world.reportSearches).toEqual([]);
    await ask(`/trades?market=${condition(1)},${condition(2)}&eventId=1&user=${user}`);
    expect(world.reportSearches).toMatchObject([{ markets: [1, 2], user, takerOnly: true }]);
  });
});

describe('reports of a wallet', () => {
  it('show moves without a token', async () => {
    const { wallet: _, ...row } = trade;
    world.activity.push({ ...row, type: 'REDEEM', outcome: null, side: null, usdcMicro: 5 });
    const { body } = await ask(`/activity?user=${user}`);
    expect(Value.Check(Activity, first(body))).toBe(true);
    expect(first(body)).toMatchObject({ type: 'REDEEM', asset: '', outcomeIndex: 999, side: '' });
  });

  it('sum up the value of its tokens', async () => {
    const held = { outcome: 0, costMicro: 0, totalBoughtMicro: 0, sharesBoughtMicro: 0 } as const;
    const rest = { ...held, realizedMicro: 0, updatedS: 1, sizeMicro: 10_000_001 };
    world.positions.push({ ...rest, market: 1 }, { ...rest, market: 2 });
    world.catalog.apply(marketEntry(2, { payout0: 10_000 }));
    expect((await ask(`/value?user=${user}`)).body).toMatchObject([{ value: 15.000001 }]);
    world.held.add(1).add(2);
    expect((await ask(`/traded?user=${user}`)).body).toMatchObject({ traded: 2 });
  });

  it('show closed positions with the average of all that was bought', async () => {
    const closed = { outcome: 0, sizeMicro: 0, costMicro: 0, updatedS: 7 } as const;
    world.closed.push(
      {
        ...closed,
        market: 1,
        totalBoughtMicro: 3_000_000,
        sharesBoughtMicro: 9_000_000,
        realizedMicro: -5,
      },
      {
        ...closed,
        market: 2,
        totalBoughtMicro: 1_000_000,
        sharesBoughtMicro: 2_000_000,
        realizedMicro: 9,
      },
    );
    const { body } = await ask(`/closed-positions?user=${user}`);
    expect(Value.Check(ClosedPosition, first(body))).toBe(true);
    expect(body).toMatchObject([
      { conditionId: condition(2), avgPrice: 0.5, realizedPnl: 0.000009 },
      { conditionId: condition(1), avgPrice: 0.333333, realizedPnl: -0.000005 },
    ]);
    const sorted = await ask(`/closed-positions?user=${user}&sortBy=AVGPRICE&sortDirection=ASC`);
    expect(first(sorted.body)).toMatchObject({ conditionId: condition(1) });
  });
});

describe('reports of markets', () => {
  it('value open interest by pairs, and by payouts once resolved', async () => {
    world.catalog.apply(marketEntry(2, { payout0: 10_000 }));
    world.supply.push(
      { market: 1, size0Micro: 40_000_000, size1Micro: 40_000_000 },
      { market: 2, size0Micro: 1_000_000, size1Micro: 9_000_000 },
    );
    expect((await ask(`/oi?market=${condition(2)},${condition(1)},${condition(3)}`)).body).toEqual([
      { market: condition(2), value: '1' },
      { market: condition(1), value: '40' },
      { market: condition(3), value: '0' },
    ]);
    expect((await ask('/oi')).body).toEqual([{ market: 'GLOBAL', value: '41' }]);
  });

  it('show the volume of an event, by id and by market', async () => {
    const figures = { ...noFigures, volumeMicro: 2_500_000 };
    world.catalog.takeFigures(new Map([[1, figures]]));
    const all = await ask('/live-volume?id=1');
    expect(all.body).toMatchObject([{ total: '2.5', markets: [{ value: '2.5' }, {}, {}] }]);
    const one = await ask(`/live-volume?market=${condition(1)}`);
    expect(one.body).toEqual([{ total: '2.5', markets: [{ market: condition(1), value: '2.5' }] }]);
    for (const several of ['id=1&id=9', 'id=1,9', `id=1,${'9,'.repeat(98)}9`]) {
      expect((await ask(`/live-volume?${several}`)).body).toEqual(all.body);
    }
    world.hasFigures = false;
    expect((await ask('/live-volume?id=1')).status).toBe(503);
  });

  it('group positions by token', async () => {
    world.marketPositions.push({
      wallet: user,
      outcome: 0,
      sizeMicro: 4_000_000,
      costMicro: 1_000_000,
      totalBoughtMicro: 2_000_000,
      realizedMicro: 500_000,
    });
    const { body } = await ask(`/v1/market-positions?market=${condition(1)}`);
    const [group] = body as readonly { positions: readonly unknown[] }[];
    expect(body).toMatchObject([{ token: `${condition(1)}:0` }, { positions: [] }]);
    expect(Value.Check(MarketPosition, group?.positions[0])).toBe(true);
    expect(group?.positions).toMatchObject([{ cashPnl: 1, totalPnl: 1.5, avgPrice: 0.25 }]);
  });
});

describe('builders and rewards', () => {
  it('show attributed trades in both shapes, and go on by cursor', async () => {
    for (let index = 0; index < 101; index += 1) {
      world.builderTrades.push({ ...builderRow, timeMs: builderRow.timeMs - index });
    }
    const { body } = await ask('/builder/trades');
    const page = body as { data: readonly unknown[]; next_cursor: string };
    expect(page).toMatchObject({ limit: 100, count: 100 });
    expect(Value.Check(BuilderTrade, page.data[0])).toBe(true);
    expect(page.data[0]).toMatchObject({
      id: '0-41-2-maker',
      type: 'MAKER',
      fee: '0',
      sizeUsdc: '0.8',
      matchTime: '1780315198',
    });
    const last = await ask(`/builder/trades?next_cursor=${page.next_cursor}`);
    expect(last.body).toMatchObject({ next_cursor: 'LTE=', count: 1 });
    const filtered = `/builder/trades?before=9&next_cursor=${page.next_cursor}`;
    expect(await ask(filtered)).toMatchObject({ status: 400 });
    expect((await ask('/builder/trades?next_cursor=LTE%3D')).body).toMatchObject({ count: 0 });
    expect((await ask(`/builder/trades?market=${condition(99)}`)).body).toMatchObject({ count: 0 });
  });

  it.each([token(2, 1), `${condition(2)}:1`])('are found by their asset %s', async (asset) => {
    expect((await ask(`/builder/trades?asset_id=${asset}`)).status).toBe(200);
    expect(world.reportSearches).toMatchObject([{ market: 2, outcome: 1 }]);
  });

  it('rank builders by volume, equal ones alike', async () => {
    const row = { day: '', wallets: 2 };
    for (const [builder, volumeMicro] of [
      ['b', 5],
      ['a', 5],
      ['c', 9],
    ] as const)
      world.builderVolumes.push({ ...row, builder, volumeMicro });
    const { body } = await ask('/v1/builders/leaderboard');
    expect(
      (body as { rank: string; builder: string }[]).map((one) => one.rank + one.builder),
    ).toEqual(['1c', '2a', '2b']);
  });

  it('show the volume of each whole day of a period', async () => {
    for (const day of ['2026-05-31', '2026-06-01'])
      world.builderVolumes.push({ day, builder: condition(9), volumeMicro: 5, wallets: 2 });
    const due = [{ dt: '2026-05-31T00:00:00.000Z' }, { dt: '2026-06-01T00:00:00.000Z' }];
    for (const url of [
      '/v1/builders/volume?timePeriod=WEEK',
      '/data-api/v1/builders/volume?timePeriod=WEEK&limit=100000&offset=1',
    ])
      expect((await ask(url)).body).toMatchObject(due);
  });

  it('show an empty page for any id that no trade has, and after any last page', async () => {
    const none = { data: [], count: 0, next_cursor: 'LTE=' };
    for (const id of ['x', '1', '3-77-2-other', 'a'.repeat(200)])
      expect(await askEmpty(`/builder/trades?id=${id}`)).toMatchObject({ status: 200, body: none });
    expect((await askEmpty('/builder/trades?id=x&market=1')).status).toBe(400);
    for (const offset of ['7', '1000001', '9'.repeat(40)]) {
      const cursor = encodeURIComponent(Buffer.from(offset).toString('base64'));
      const { body } = await askEmpty(`/sampling-markets?next_cursor=${cursor}`);
      expect(body).toMatchObject(none);
    }
  });

  it('describe rewarded markets by catalog, book and figures', async () => {
    const quote = { ...noQuote, bid: 5000, ask: 5400 };
    world.quotes.set(token(1, 0), quote);
    const micro = { volumeMicro: 9_000_000, dayVolumeMicro: 1_500_000, liquidityMicro: 250_000 };
    const moves = { ...noMoves, dayMicro: 80_000 };
    world.catalog.takeFigures(new Map([[1, { ...noFigures, ...micro, moves }]]));
    const { body } = await ask(`/rewards/markets/multi?condition_ids=${condition(1)}`);
    expect(body).toMatchObject({
      data: [
        {
          condition_id: condition(1),
          market_id: '1',
          market_slug: 'market-1',
          question: 'Question 1?',
          image: 'https://example.test/image.png',
          event_id: '1',
          event_slug: 'event-1',
          group_item_title: '',
          created_at: '2026-01-01T00:00:00.000Z',
          market_competitiveness: 0.25,
          volume_24hr: 1.5,
          spread: 0.04,
          one_day_price_change: 0.08,
          tokens: [
            { token_id: token(1, 0), outcome: 'Yes', price: 0.52 },
            { token_id: token(1, 1), outcome: 'No', price: 0.48 },
          ],
        },
      ],
    });
    // Without a price of that time nothing has changed since.
    const other = await ask(`/rewards/markets/multi?condition_ids=${condition(3)}`);
    expect(other.body).toMatchObject({ data: [{ spread: 1, one_day_price_change: 0 }] });
  });

  it('list the markets with a daily reward', async () => {
    world.catalog.apply(marketEntry(2, { rewardsDailyMicro: 0 }));
    const { body } = await ask('/rewards/markets/current');
    expect(body).toMatchObject({
      count: 2,
      data: [{ native_daily_rate: 12.5, rewards_max_spread: 3.5 }, {}],
    });
    const one = await ask(`/rewards/markets/${condition(1)}`);
    expect(one.body).toMatchObject({
      data: [{ question: 'Question 1?', tokens: [{ price: 0.5 }, {}] }],
    });
    const multi = await ask(`/rewards/markets/multi?condition_ids=${condition(3)}`);
    expect(multi.body).toMatchObject({ count: 1 });
    for (const over of [{ payout0: 10_000 }, { closed: true }]) {
      world.catalog.apply(marketEntry(1, over));
      const ended = await ask(`/rewards/markets/${condition(1)}`);
      expect(ended.body).toMatchObject({ data: [], count: 0, next_cursor: 'LTE=' });
    }
    expect((await ask('/rewards/user')).status).toBe(401);
    world.caller = { wallet: user, apiKey: 'k' as never };
    expect((await ask('/rewards/user')).body).toMatchObject({ data: [], next_cursor: 'LTE=' });
  });

  it('estimate rebates out of the fees that makers caused', async () => {
    world.makerFees.push({ market: 1, feesMicro: 10_000_000 }, { market: 99, feesMicro: 5 });
    const { body } = await ask(`/rebates/current?maker_address=${user}`);
    expect(body).toMatchObject([{ rebated_fees_usdc: '2.000000', status: 'estimated' }]);
    const past = await ask(`/rebates/current?maker_address=${user}&date=2026-05-30`);
    expect(past.body).toMatchObject([{ status: 'closed', date: '2026-05-30' }]);
  });

  it('estimate rebates to the micro-USDC, however large the fees', async () => {
    world.makerFees.push({ market: 1, feesMicro: 9_007_199_254_740_029 });
    const { body } = await ask(`/rebates/current?maker_address=${user}`);
    expect(body).toMatchObject([{ rebated_fees_usdc: '1801439850.948005' }]);
  });
});

describe('leaderboards', () => {
  it('name traders as they name themselves and have an Age', async () => {
    world.leaderboard.push({ rank: 3, wallet: user, volMicro: 2_500_000, pnlMicro: -1 });
    const answer = await ask('/v1/leaderboard?category=ECONOMICS&timePeriod=WEEK&orderBy=VOL');
    expect(answer.headers['age']).toBe('7');
    expect(Value.Check(LeaderboardEntry, first(answer.body))).toBe(true);
    expect(first(answer.body)).toMatchObject({ rank: '3', vol: 2.5, pnl: -0.000001 });
    expect(world.reportSearches).toMatchObject([
      { category: 8, period: 'WEEK', orderBy: 'VOL', limit: 25, offset: 0, wallets: null },
    ]);
  });

  it('look a wallet up, and find none under a name that no wallet has', async () => {
    await ask(`/v1/leaderboard?user=${user}`);
    expect(world.reportSearches).toMatchObject([
      { wallets: [user], period: 'DAY', orderBy: 'PNL' },
    ]);
    expect((await ask('/v1/leaderboard?userName=nobody')).body).toEqual([]);
    expect(world.reportSearches).toHaveLength(1);
  });

  it.each(['limit=0', 'limit=51', 'offset=1001', 'category=ESPORTS', 'timePeriod=x', 'user=1'])(
    'refuse %s',
    async (query) => {
      const name = query.split('=')[0];
      const answer = await askEmpty(`/v1/leaderboard?${query}`);
      expect([answer.status, answer.body]).toEqual([400, { error: `invalid_field: ${name}` }]);
    },
  );
});
