import type { Side } from '@pm/schemas/log/types';
import { type Leg, Positions } from '../../src/audit/positions.ts';

const share = 1_000_000;
const key = { wallet: '0xabc', market: 7, outcome: 1 };
const source = { partition: 2, inOffset: 40, timeMs: 5_000 };

function leg(side: Side, shares: number, price: number, isTrade = true): Leg {
  return { ...key, side, sizeMicro: shares * share, price, isTrade };
}

describe('positions by average cost', () => {
  test('come in at their price, go with their share of the cost, and the last share takes the rest', () => {
    const positions = new Positions();
    const apply = (one: Leg, inOffset: number) => positions.apply(one, { ...source, inOffset });
    apply(leg('BUY', 1, 3_333), 1);
    apply(leg('BUY', 2, 5_000, false), 2);
    apply(leg('SELL', 1, 6_000), 3);
    // 1,333,300 x 1 / 3, rounded down, has gone.
    expect(positions.get(key)).toEqual({
      ...key,
      sizeMicro: 2 * share,
      costMicro: 888_867,
      boughtMicro: 1_333_300,
      sharesMicro: 3 * share,
      realizedMicro: 600_000 - 444_433,
      volumeMicro: 933_300,
      updatedMs: 5_000,
      version: 3,
      partition: 2,
    });
    apply(leg('SELL', 2, 1_000), 4);
    expect(positions.get(key)).toMatchObject({ sizeMicro: 0, costMicro: 0 });
    expect(positions.get(key)?.realizedMicro).toBe(600_000 + 200_000 - 1_333_300);
  });

  test('are exact where cost times size is no safe integer', () => {
    const positions = new Positions();
    positions.apply({ ...leg('BUY', 0, 1), sizeMicro: 9_000_000_010_000, price: 9_999 }, source);
    positions.apply({ ...leg('SELL', 0, 1), sizeMicro: 4_999_999_990_000, price: 1 }, source);
    const cost = 9_999n * 900_000_001n;
    const removed = (cost * 4_999_999_990_000n) / 9_000_000_010_000n;
    expect(positions.get(key)?.costMicro).toBe(Number(cost - removed));
  });

  test('are found among any number of others', () => {
    const positions = new Positions();
    const wallets = Array.from({ length: 5_000 }, (_, index) => `0x${index}`);
    for (const [index, wallet] of wallets.entries())
      for (const market of [1, 2])
        positions.apply({ ...leg('BUY', 1 + index, 5_000), wallet, market }, source);
    expect(positions.count).toBe(10_000);
    expect([...positions].length).toBe(10_000);
    for (const [index, wallet] of wallets.entries())
      expect(positions.get({ wallet, market: 2, outcome: 1 })?.sizeMicro).toBe((1 + index) * share);
    expect(positions.get({ wallet: '0x1', market: 3, outcome: 1 })).toBeNull();
    expect([...positions.of('0x1')].map(({ market }) => market)).toEqual([1, 2]);
  });
});
