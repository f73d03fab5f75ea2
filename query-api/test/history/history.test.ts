import { ReadRefusal } from '@pm/domain/reading/refusal';
import fc from 'fast-check';
import { historyPoints, noPrices, type PriceFacts } from '../../src/history/history.ts';
import {
  firstPriceS,
  historyPointsMax,
  planHistory,
  stepsMinutes,
} from '../../src/history/history-plan.ts';

const nowS = Date.UTC(2026, 5, 1, 12, 34, 56) / 1000;
const day = 86_400;
/** A market as old as time. */
const times = { nowS, firstS: 0 };
const none = { interval: null, startS: null, endS: null, fidelity: null };

describe('the plan of a history', () => {
  it.each([
    ['1h', 3_600, 60],
    ['6h', 21_600, 60],
    ['5m', 300, 60],
    ['15m', 900, 60],
    ['1d', day, 300],
    ['1w', 7 * day, 1_800],
    ['1m', 30 * day, 10_800],
  ])('looks back %s with the width of the real application', (interval, backS, stepS) => {
    const fromS = Math.floor((nowS - backS) / stepS) * stepS;
    expect(planHistory({ ...none, interval }, times)).toEqual({
      fromS,
      toS: Math.ceil(nowS / stepS) * stepS,
      stepS,
    });
  });

  it.each(['max', 'all'])('%s has half days from 00:00 and 12:00 UTC', (interval) => {
    const plan = planHistory({ ...none, interval, fidelity: 1 }, times);
    expect(plan).toMatchObject({ stepS: 43_200, toS: Math.ceil(nowS / 43_200) * 43_200 });
    expect((plan as { fromS: number }).fromS % 43_200).toBe(0);
  });

  it.each([
    [1, 1],
    [2, 5],
    [5, 5],
    [6, 30],
    [31, 180],
    [180, 180],
    [181, 720],
    [9_999, 720],
  ])('rounds a fidelity of %p minutes up to %p', (fidelity, minutes) => {
    expect(planHistory({ ...none, interval: '1d', fidelity }, times)).toMatchObject({
      stepS: minutes * 60,
    });
  });

  it.each([
    [2, 300],
    [3, 1_800],
    [7, 1_800],
    [8, 10_800],
    [30, 10_800],
    [31, 43_200],
  ])('chooses the width for %p days by itself', (days, stepS) => {
    expect(planHistory({ ...none, startS: nowS - days * day }, times)).toMatchObject({ stepS });
  });

  it('refuses an interval with a range, a range without start, and a backward one', () => {
    const texts = [
      planHistory({ ...none, interval: '1d', startS: 1 }, times),
      planHistory({ ...none, interval: '1d', endS: 1 }, times),
      planHistory({ ...none, endS: nowS }, times),
      planHistory(none, times),
      planHistory({ ...none, startS: 10, endS: 9 }, times),
      planHistory({ ...none, interval: 'constructor' }, times),
    ].map((refusal) => (refusal as ReadRefusal).text);
    expect(texts).toEqual([
      'interval cannot be combined with start_ts/end_ts',
      'interval cannot be combined with start_ts/end_ts',
      'Invalid payload',
      'Invalid payload',
      'Invalid payload',
      'Invalid payload',
    ]);
  });

  it('has the width requested for where no more than the allowed points can be known', () => {
    const listedS = nowS - 1_200;
    const young = { nowS, firstS: listedS - 3_600 };
    expect(firstPriceS([{ createdAtMs: nowS * 1_000 }, { createdAtMs: listedS * 1_000 }])).toBe(
      young.firstS,
    );
    for (const request of [
      { interval: '1m', fidelity: 1 },
      { startS: 0, fidelity: 1 },
    ])
      expect(planHistory({ ...none, ...request }, young)).toMatchObject({ stepS: 60 });
    const old = { nowS, firstS: nowS - 11 * day };
    expect(planHistory({ ...none, startS: 0, fidelity: 1 }, old)).toMatchObject({ stepS: 300 });
  });

  it('returns the last bucket whole, wherever the end lies in it', () => {
    const startS = nowS - (nowS % 300) - 6_000;
    const plan = (endS: number) => planHistory({ ...none, startS, endS, fidelity: 5 }, times);
    expect(plan(startS + 601)).toEqual({ fromS: startS, toS: startS + 900, stepS: 300 });
    expect(plan(startS + 601)).toEqual(plan(startS + 900));
    expect(plan(startS + 600)).toMatchObject({ toS: startS + 600 });
  });

  it('never has more points than allowed and never reaches into the future', () => {
    const anS = fc.integer({ min: 0, max: 4_200_000_000 });
    fc.assert(
      fc.property(
        anS,
        fc.option(anS),
        fc.option(fc.integer({ min: 1, max: 1_000 })),
        anS,
        (startS, endS, fidelity, listedS) => {
          const plan = planHistory({ ...none, startS, endS, fidelity }, { nowS, firstS: listedS });
          if (plan instanceof ReadRefusal) return;
          expect(plan.toS).toBeLessThan(nowS + plan.stepS);
          expect(plan.fromS % plan.stepS).toBe(0);
          expect(stepsMinutes).toContain(plan.stepS / 60);
          expect((plan.toS - plan.fromS) / plan.stepS).toBeLessThanOrEqual(historyPointsMax);
        },
      ),
    );
  });
});

describe('the points of a history', () => {
  const plan = { fromS: 600, toS: 900, stepS: 60 };
  const facts = (changes: Partial<PriceFacts>): PriceFacts => ({ ...noPrices, ...changes });

  it('leaves out buckets before the first price and carries the last one forward', () => {
    const midpoints = [
      { bucketS: 660, priceMicro: 520_000 },
      { bucketS: 780, priceMicro: 535_000 },
    ];
    expect(historyPoints(plan, facts({ midpoints }), 0)).toEqual([
      { t: 660, p: 0.52 },
      { t: 720, p: 0.52 },
      { t: 780, p: 0.535 },
      { t: 840, p: 0.535 },
    ]);
  });

  it('shows the other token as the rest of one USDC', () => {
    const midpoints = [{ bucketS: 840, priceMicro: 525_000 }];
    expect(historyPoints(plan, facts({ midpoints }), 1)).toEqual([{ t: 840, p: 0.475 }]);
  });

  it('starts with the price known before the range', () => {
    expect(historyPoints(plan, facts({ midpointBefore: 100_000 }), 0)).toHaveLength(5);
  });

  it('falls to trades until a midpoint is known', () => {
    const trades = [
      { bucketS: 600, priceMicro: 300_000 },
      { bucketS: 780, priceMicro: 990_000 },
    ];
    const midpoints = [{ bucketS: 720, priceMicro: 400_000 }];
    expect(historyPoints(plan, facts({ trades, midpoints }), 0)).toEqual([
      { t: 600, p: 0.3 },
      { t: 660, p: 0.3 },
      { t: 720, p: 0.4 },
      { t: 780, p: 0.4 },
      { t: 840, p: 0.4 },
    ]);
  });

  it('falls to trades again while a side of the book is empty, and has no point without one', () => {
    const midpoints = [
      { bucketS: 660, priceMicro: 0 },
      { bucketS: 780, priceMicro: 600_000 },
    ];
    const one = facts({ midpointBefore: 400_000, midpoints });
    expect(historyPoints(plan, one, 0)).toEqual([
      { t: 600, p: 0.4 },
      { t: 780, p: 0.6 },
      { t: 840, p: 0.6 },
    ]);
    expect(historyPoints(plan, { ...one, tradeBefore: 350_000 }, 1)).toEqual([
      { t: 600, p: 0.6 },
      { t: 660, p: 0.65 },
      { t: 720, p: 0.65 },
      { t: 780, p: 0.4 },
      { t: 840, p: 0.4 },
    ]);
  });

  it('has the payout from its resolution on, also where nothing was known', () => {
    const resolved = facts({
      payout: { bucketS: 720, priceMicro: 1_000_000 },
      tradeBefore: 350_000,
    });
    expect(historyPoints(plan, resolved, 1)).toEqual([
      { t: 600, p: 0.65 },
      { t: 660, p: 0.65 },
      { t: 720, p: 0 },
      { t: 780, p: 0 },
      { t: 840, p: 0 },
    ]);
    const longAgo = facts({ payout: { bucketS: 60, priceMicro: 500_000 } });
    expect(historyPoints(plan, longAgo, 0).map(({ p }) => p)).toEqual([0.5, 0.5, 0.5, 0.5, 0.5]);
  });

  it('has no point where nothing is known', () => {
    expect(historyPoints(plan, noPrices, 0)).toEqual([]);
  });
});
