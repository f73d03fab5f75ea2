import { type LoadShape, planLoad } from '../../src/load/plan.ts';
import { parseRates, rateName, risingRates } from '../../src/load/rates.ts';

const shape: LoadShape = {
  rate: { perSecond: 300, batch: 1 },
  leadSeconds: 2,
  seconds: 5,
  wallets: 8,
  markets: 32,
  fills: 0,
};
const placementsOf = (given: LoadShape) =>
  planLoad(given).requests.filter(({ kind }) => kind === 'place');

describe('the rates of a load', () => {
  it('are orders a second, with the orders of a request after an x', () => {
    expect(parseRates('20, 1500x15')).toEqual([
      { perSecond: 20, batch: 1 },
      { perSecond: 1500, batch: 15 },
    ]);
    expect(parseRates('1500x15').map(rateName)).toEqual(['1,500/s in batches of 15']);
  });

  it.each(['', '0', '300x16', '300x0', '10x15', '-5', '1e3', '60000', '20,'])(
    'refuse %j',
    (text) => {
      expect(() => parseRates(text)).toThrow(RangeError);
    },
  );

  it('rise by a quarter in whole requests', () => {
    const rising = risingRates({ perSecond: 1500, batch: 15 }, 3);
    expect(rising.map(({ perSecond }) => perSecond)).toEqual([1500, 1875, 2340]);
  });
});

describe('the plan of a load', () => {
  it('sends as many orders as the rate says, at even distances, lead included', () => {
    const moments = placementsOf(shape).map(({ atMs }) => atMs);
    expect(moments).toHaveLength(300 * 7);
    expect(moments[0]).toBe(0);
    for (const [index, moment] of moments.entries()) expect(moment).toBeCloseTo(index / 0.3, 6);
  });

  it('sends batches as requests of one wallet each', () => {
    const batches = { ...shape, rate: { perSecond: 1500, batch: 15 } };
    const { orders } = planLoad(batches);
    const placements = placementsOf(batches);
    expect(placements).toHaveLength(100 * 7);
    expect(placements.flatMap((request) => request.orders)).toEqual([...orders.keys()]);
    for (const request of placements) {
      const wallets = new Set(request.orders.map((order) => orders[order]?.wallet));
      expect([...wallets]).toEqual([request.wallet]);
    }
  });

  it('keeps the moments of all requests in order', () => {
    const moments = planLoad(shape).requests.map(({ atMs }) => atMs);
    expect(moments).toEqual([...moments].sort((a, b) => a - b));
  });

  it.each([0, 0.1, 0.25, 0.5])('lets a share %d of the orders take', (fills) => {
    for (const rate of [shape.rate, { perSecond: 1500, batch: 15 }]) {
      const { orders } = planLoad({ ...shape, rate, fills });
      const meeting = orders.filter(({ rests }) => !rests);
      expect(meeting.length / orders.length).toBeCloseTo(2 * fills, 2);
      const wrong = orders.filter((order, index) => {
        const request = Math.floor(index / rate.batch);
        const other = orders[(request ^ 1) * rate.batch + (index % rate.batch)];
        if (order.rests || other === undefined) return false;
        const meet = other.market === order.market && other.outcome === 1 - order.outcome;
        return !meet || other.rests || other.wallet === order.wallet;
      });
      expect(wrong.slice(0, 3)).toEqual([]);
    }
  });

  it('lets no resting order meet another one, nor one of a pair', () => {
    const { orders } = planLoad({ ...shape, fills: 0.25 });
    const highest = (outcome: number, rests: boolean) =>
      Math.max(
        ...orders
          .filter((order) => order.outcome === outcome && order.rests === rests)
          .map(({ price }) => Number(price)),
      );
    for (const outcome of [0, 1])
      for (const rests of [true, false])
        expect(highest(outcome, true) + highest(1 - outcome, rests)).toBeLessThan(1);
  });

  it('cancels each resting order once, by its wallet, after it has rested for a second', () => {
    const { orders, requests } = planLoad({ ...shape, fills: 0.25 });
    const placedAt = new Map(
      requests
        .filter(({ kind }) => kind === 'place')
        .flatMap(({ atMs, orders: placed }) => placed.map((order) => [order, atMs] as const)),
    );
    const seen = new Set<number>();
    for (const cancel of requests.filter(({ kind }) => kind === 'cancel')) {
      for (const order of cancel.orders) {
        expect(seen.has(order)).toBe(false);
        seen.add(order);
        expect(orders[order]).toMatchObject({ wallet: cancel.wallet, rests: true });
        expect(cancel.atMs - (placedAt.get(order) ?? Number.NaN)).toBeGreaterThanOrEqual(1_000);
      }
    }
    const left = [...orders.keys()].filter((order) => orders[order]?.rests && !seen.has(order));
    const endMs = 7_000;
    for (const order of left) expect(placedAt.get(order)).toBeGreaterThan(endMs - 2_100);
  });
});
