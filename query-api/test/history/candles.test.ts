import { CandlesResponse } from '@pm/schemas/http/reading';
import { Value } from 'typebox/value';
import { get, nowMs, openListener, token, World } from '../in-memory.ts';

const yes = token(1, 0);
const nowS = nowMs / 1000;

const setUp = () => {
  const world = new World();
  world.candles.set(yes, [
    {
      bucketS: 1_767_225_600,
      open: 5_000,
      high: 5_500,
      low: 4_900,
      close: 5_100,
      volumeMicro: 3_000_000n,
      notionalMicro: 1_550_000n,
      trades: 4,
    },
  ]);
  return { world, app: openListener(world) };
};

/** For tests that change nothing in it. */
const unchanged = setUp();

describe('GET /candles', () => {
  it('answers prices, volume, the mean price by volume and the number of fills', async () => {
    const answer = await get(unchanged.app, `/candles?token_id=${yes}&interval=1d`);
    expect([...Value.Errors(CandlesResponse, answer.body)]).toEqual([]);
    expect(answer.body).toEqual({
      candles: [
        {
          t: 1_767_225_600,
          open: '0.5',
          high: '0.55',
          low: '0.49',
          close: '0.51',
          volume: '3',
          notional: '1.55',
          vwap: '0.516667',
          count: 4,
        },
      ],
    });
  });

  it('means the newest ones without a start, and those from the bucket of the start on with one', async () => {
    const { world, app } = setUp();
    await get(app, `/candles?token_id=${yes}`);
    await get(app, `/clob/candles?token_id=${yes}&interval=5m&start=1000&end=2000&limit=7`);
    expect(world.candlePlans).toEqual([
      { fromS: 0, toS: nowS + 60, stepS: 60, limit: 500, newest: true },
      { fromS: 900, toS: 2_100, stepS: 300, limit: 7, newest: false },
    ]);
  });

  it.each([
    ['', 400, 'Invalid token id'],
    ['?token_id=5', 404, 'No orderbook exists for the requested token id'],
    [`?token_id=${yes}&interval=2h`, 400, 'Invalid payload'],
    [`?token_id=${yes}&interval=toString`, 400, 'Invalid payload'],
    [`?token_id=${yes}&start=-1`, 400, 'Invalid payload'],
    [`?token_id=${yes}&start=9&end=8`, 400, 'Invalid payload'],
    [`?token_id=${yes}&limit=0`, 400, 'Invalid payload'],
    [`?token_id=${yes}&limit=1001`, 400, 'Payload exceeds the limit'],
  ])('refuses %p', async (query, status, error) => {
    expect(await get(unchanged.app, `/candles${query}`)).toMatchObject({ status, body: { error } });
  });
});
