import { HolderGroup, Position } from '@pm/schemas/http/reading';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { condition, get, openListener, token, World, wallet } from '../in-memory.ts';

const user = wallet(1);

const setUp = () => {
  const world = new World();
  world.positions.push({
    market: 1,
    outcome: 0,
    sizeMicro: 10_000_000,
    costMicro: 4_000_000,
    totalBoughtMicro: 5_000_000,
    sharesBoughtMicro: 12_500_000,
    realizedMicro: 500_000,
    updatedS: 1_780_000_000,
  });
  world.holders.push({ market: 1, outcome: 1, wallet: wallet(2), sizeMicro: 7_500_000 });
  return { world, app: openListener(world) };
};

/** For tests that change nothing in it. */
const unchanged = setUp();
const exact = (schema: Type.TObject) =>
  Type.Object(schema.properties, { additionalProperties: false });

describe('GET /positions', () => {
  it('has exactly the fields of the specification', async () => {
    const answer = await get(
      unchanged.app,
      `/positions?user=${user.toUpperCase().replace('0X', '0x')}`,
    );
    expect([...Value.Errors(Type.Array(exact(Position)), answer.body)]).toEqual([]);
    expect(answer.body).toEqual([
      {
        proxyWallet: '0x0000000000000000000000000000000000000001',
        asset: `${condition(1)}:0`,
        conditionId: condition(1),
        size: 10,
        avgPrice: 0.4,
        initialValue: 4,
        currentValue: 5,
        cashPnl: 1,
        percentPnl: 25,
        totalBought: 5,
        realizedPnl: 0.5,
        percentRealizedPnl: 10,
        curPrice: 0.5,
        redeemable: false,
        mergeable: false,
        negativeRisk: false,
        title: 'Question 1?',
        slug: 'market-1',
        icon: 'https://example.test/icon.png',
        eventSlug: 'event-1',
        outcome: 'Yes',
        outcomeIndex: 0,
        oppositeOutcome: 'No',
        oppositeAsset: `${condition(1)}:1`,
        timestamp: 1_780_000_000,
        endDate: '2026-12-01T00:00:00.000Z',
      },
    ]);
  });

  it('names assets by number under /data-api', async () => {
    const answer = await get(unchanged.app, `/data-api/positions?user=${user}&anything=1`);
    expect(answer.body).toMatchObject([{ asset: token(1, 0), oppositeAsset: token(1, 1) }]);
  });

  it.each([
    ['', 'missing_field: user'],
    ['?user=', 'missing_field: user'],
    ['?user=0x12', 'invalid_field: user'],
    [`?user=${user}&user=${user}`, 'invalid_field: user'],
    [`?user=${user}&limit=501`, 'invalid_field: limit'],
    [`?user=${user}&limit=-1`, 'invalid_field: limit'],
    [`?user=${user}&limit=1e2`, 'invalid_field: limit'],
    [`?user=${user}&offset=10001`, 'invalid_field: offset'],
    [`?user=${user}&sizeThreshold=-1`, 'invalid_field: sizeThreshold'],
    [`?user=${user}&sizeThreshold=x`, 'invalid_field: sizeThreshold'],
    [`?user=${user}&redeemable=yes`, 'invalid_field: redeemable'],
    [`?user=${user}&sortBy=tokens`, 'invalid_field: sortBy'],
    [`?user=${user}&sortDirection=UP`, 'invalid_field: sortDirection'],
    [`?user=${user}&title=${'x'.repeat(101)}`, 'invalid_field: title'],
    [`?user=${user}&market=0x12`, 'invalid_field: market'],
    [`?user=${user}&foo=1`, 'unknown_field: foo'],
  ])('refuses %p', async (query, error) => {
    expect(await get(unchanged.app, `/positions${query}`)).toMatchObject({
      status: 400,
      body: { error },
    });
  });

  it.each([
    'limit=0',
    'limit=500&offset=10000',
    `title=${'x'.repeat(100)}`,
    `market=${condition(2)},${condition(77)}`,
  ])('takes %p at its bounds', async (query) => {
    expect(await get(unchanged.app, `/positions?user=${user}&${query}`)).toMatchObject({
      status: 200,
      body: [],
    });
  });

  it('answers 503 in the words of the family when a store is away', async () => {
    for (const store of ['redis', 'clickhouse'] as const) {
      const { world, app } = setUp();
      world.away = store;
      const answer = await get(app, `/positions?user=${user}`);
      expect(answer).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1' },
        body: { error: expect.stringMatching(/^unavailable: /) },
      });
    }
  });
});

describe('GET /holders', () => {
  it('groups by token, with empty groups', async () => {
    const { app } = unchanged;
    const answer = await get(app, `/holders?market=${condition(1)}`);
    expect([...Value.Errors(Type.Array(exact(HolderGroup)), answer.body)]).toEqual([]);
    const holder = {
      proxyWallet: '0x0000000000000000000000000000000000000002',
      bio: '',
      asset: `${condition(1)}:1`,
      pseudonym: 'Arctic-Albatross-0',
      amount: 7.5,
      displayUsernamePublic: true,
      outcomeIndex: 1,
      name: '',
      profileImage: '',
      profileImageOptimized: '',
    };
    expect(answer.body).toEqual([
      { token: `${condition(1)}:0`, holders: [] },
      { token: `${condition(1)}:1`, holders: [holder] },
    ]);
    const family = await get(app, `/data-api/holders?market=${condition(1)}&x=1`);
    expect(family.body).toMatchObject([
      { token: token(1, 0) },
      { token: token(1, 1), holders: [{ asset: token(1, 1) }] },
    ]);
  });

  it('is an empty list where no market is requested', async () => {
    const { app } = unchanged;
    for (const path of [
      `/holders?market=${condition(1)}`,
      `/v1/market-positions?market=${condition(1)}`,
    ])
      expect((await get(app, `${path}&limit=0`)).body).toEqual([]);
  });

  it.each([
    ['', 'missing_field: market'],
    ['?market=,', 'missing_field: market'],
    ['?market=1', 'invalid_field: market'],
    [`?market=${condition(1)}&limit=501`, 'invalid_field: limit'],
    [`?market=${condition(1)}&minBalance=-0.1`, 'invalid_field: minBalance'],
    [`?market=${condition(1)}&user=1`, 'unknown_field: user'],
    [
      `?market=${Array.from({ length: 51 }, (_, index) => condition(index)).join(',')}`,
      'invalid_field: market',
    ],
  ])('refuses %p', async (query, error) => {
    expect(await get(unchanged.app, `/holders${query}`)).toMatchObject({
      status: 400,
      body: { error },
    });
  });
});
