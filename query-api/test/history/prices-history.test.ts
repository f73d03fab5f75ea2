import { BatchPricesHistory, PricesHistory } from '@pm/schemas/http/reading';
import { Value } from 'typebox/value';
import { noPrices } from '../../src/history/history.ts';
import { condition, get, nowMs, openListener, post, token, World } from '../in-memory.ts';

const [yes, no] = [token(1, 0), token(1, 1)];
const nowS = nowMs / 1000;

const setUp = () => {
  const world = new World();
  world.prices.set(yes, { ...noPrices, midpointBefore: 520_000 });
  world.prices.set(no, { ...noPrices, midpointBefore: 520_000 });
  return { world, app: openListener(world) };
};

/** For tests that change nothing in it. */
const unchanged = setUp();

describe('GET /prices-history', () => {
  it.each([yes, condition(1)])('answers midpoints of %s', async (market) => {
    const answer = await get(
      unchanged.app,
      `/prices-history?market=${market}&startTs=${nowS - 600}&endTs=${nowS}`,
    );
    expect(Value.Check(PricesHistory, answer.body)).toBe(true);
    expect(answer.body).toEqual({
      history: [
        { t: nowS - 600, p: 0.52 },
        { t: nowS - 300, p: 0.52 },
      ],
    });
  });

  it('takes the range in either spelling', async () => {
    const { app } = unchanged;
    const range = (start: string, end: string) =>
      get(app, `/prices-history?market=${yes}&${start}=${nowS - 600}&${end}=${nowS}`);
    const camel = await range('startTs', 'endTs');
    expect(camel.status).toBe(200);
    expect((await range('start_ts', 'end_ts')).body).toEqual(camel.body);
  });

  it('has an empty history for a token that is not listed', async () => {
    expect((await get(unchanged.app, '/prices-history?market=5&interval=1d')).body).toEqual({
      history: [],
    });
  });

  it.each([
    ['', 'Invalid payload'],
    [`?market=${yes}`, 'Invalid payload'],
    [`?market=${yes}&interval=2d`, 'Invalid payload'],
    [`?market=${yes}&interval=1d&fidelity=0`, 'Invalid payload'],
    [`?market=${yes}&interval=1d&fidelity=1.5`, 'Invalid payload'],
    [`?market=${yes}&startTs=-1`, 'Invalid payload'],
    [`?market=${yes}&startTs=99999999999`, 'Invalid payload'],
    [`?market=${yes}&startTs=20&endTs=10`, 'Invalid payload'],
    [`?market=${yes}&endTs=10`, 'Invalid payload'],
    ['?market=abc&interval=1d', 'Invalid token id'],
    [`?market=${yes}&interval=1d&startTs=5`, 'interval cannot be combined with start_ts/end_ts'],
  ])('refuses %p', async (query, error) => {
    expect(await get(unchanged.app, `/clob/prices-history${query}`)).toMatchObject({
      status: 400,
      body: { error },
    });
  });
});

describe('POST /batch-prices-history', () => {
  it('answers by the ids given, both spellings of the range', async () => {
    const { app } = unchanged;
    const range = { start_ts: nowS - 60, end_ts: nowS, fidelity: 1 };
    const answer = await post(app, '/batch-prices-history', {
      markets: [yes, no, condition(1), '5'],
      ...range,
    });
    expect(Value.Check(BatchPricesHistory, answer.body)).toBe(true);
    const at = (p: number) => [{ t: nowS - 60, p }];
    expect(answer.body).toEqual({
      history: { [yes]: at(0.52), [no]: at(0.48), [condition(1)]: at(0.52), '5': [] },
    });
    const camel = await post(app, '/batch-prices-history', {
      markets: [yes],
      startTs: nowS - 60,
      endTs: nowS,
      fidelity: 1,
    });
    expect(camel.body).toEqual({ history: { [yes]: at(0.52) } });
  });

  it('takes markets alone as the whole history', async () => {
    const answer = await post(unchanged.app, '/batch-prices-history', { markets: [yes] });
    expect(answer.status).toBe(200);
    const points = (answer.body as { history: Record<string, { t: number }[]> }).history[yes] ?? [];
    expect(points.every(({ t }) => t % 43_200 === 0)).toBe(true);
  });

  it.each<[unknown, string]>([
    [{}, 'Invalid payload'],
    [{ markets: [] }, 'Invalid payload'],
    [{ markets: ['x'] }, 'Invalid payload'],
    [{ markets: [5] }, 'Invalid payload'],
    [{ markets: yes }, 'Invalid payload'],
    [{ markets: Array.from({ length: 21 }, () => yes) }, 'Payload exceeds the limit'],
    [{ markets: [yes], interval: 5 }, 'Invalid payload'],
    [{ markets: [yes], start_ts: '5' }, 'Invalid payload'],
    [{ markets: [yes], end_ts: 5 }, 'Invalid payload'],
    [{ markets: [yes], fidelity: 0, interval: '1d' }, 'Invalid payload'],
    [
      { markets: [yes], interval: '1d', end_ts: 5 },
      'interval cannot be combined with start_ts/end_ts',
    ],
    [[], 'Invalid payload'],
    ['"x"', 'Invalid payload'],
  ])('refuses %j', async (body, error) => {
    expect(await post(unchanged.app, '/batch-prices-history', body)).toMatchObject({
      status: 400,
      body: { error },
    });
  });

  it('answers 503 in the words of the family when ClickHouse is away', async () => {
    const { world, app } = setUp();
    world.away = 'clickhouse';
    const answer = await post(app, '/batch-prices-history', { markets: [yes], interval: '1d' });
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { error: expect.stringContaining('unavailable') },
    });
  });
});
