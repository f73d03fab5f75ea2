import fc from 'fast-check';
import {
  affordableMicro,
  complementPrice,
  feeBoundMicro,
  feeMicro,
  holdMicro,
  lotMicro,
  notionalMicro,
  orderSizeMaxMicro,
} from '../src/money.ts';

const anyPrice = fc.integer({ min: 1, max: 9_999 });
const anySize = fc
  .integer({ min: 1, max: orderSizeMaxMicro / lotMicro })
  .map((lots) => lots * lotMicro);
const anyRate = fc.integer({ min: 0, max: 10_000 });

/** The fee by its definition, in exact arithmetic: shares x rate x p(1-p), half up to 0.00001 USDC. */
function exactFee(price: number, sizeMicro: number, rateBps: number): number {
  const numerator = BigInt(sizeMicro) * BigInt(rateBps) * BigInt(price) * BigInt(10_000 - price);
  // micro-shares x bps x 1/10^8 over 10^4 gives micro-USDC x 10^12; a step is 10 micro-USDC.
  const step = 10n ** 13n;
  return Number((numerator * 2n + step) / (step * 2n)) * 10;
}

test('a price times a size is exact, and both sides of a mint add up to the size', () => {
  fc.assert(
    fc.property(anyPrice, anySize, (price, size) => {
      const own = notionalMicro(price, size);
      expect(BigInt(own) * 10_000n).toBe(BigInt(price) * BigInt(size));
      expect(own + notionalMicro(complementPrice(price), size)).toBe(size);
    }),
  );
});

test('the fee is the curve in exact arithmetic', () => {
  fc.assert(
    fc.property(anyPrice, anySize, anyRate, (price, size, rate) => {
      expect(feeMicro(price, size, rate)).toBe(exactFee(price, size, rate));
    }),
    { numRuns: 2_000 },
  );
});

test('published fees: 100 shares at 0.50 and rate 0.0441 cost 1.1025 USDC', () => {
  expect(feeMicro(5_000, 100_000_000, 441)).toBe(1_102_500);
  expect(feeMicro(5_000, 100_000_000, 0)).toBe(0);
});

test('no split of a limit buy into fills costs more than its bound allows for', () => {
  fc.assert(
    fc.property(
      anyPrice,
      anySize,
      anyRate,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (limit, size, rate, part) => {
        const price = Math.max(1, Math.ceil(limit * part));
        expect(feeMicro(price, size, rate)).toBeLessThanOrEqual(feeBoundMicro(limit, size, rate));
      },
    ),
  );
});

test('what a budget buys never costs more than the budget, and one lot more would', () => {
  fc.assert(
    fc.property(anyPrice, fc.integer({ min: 0, max: 10 ** 13 }), (price, budget) => {
      const size = affordableMicro(price, budget);
      expect(notionalMicro(price, size)).toBeLessThanOrEqual(budget);
      expect(notionalMicro(price, size + lotMicro)).toBeGreaterThan(budget);
    }),
  );
});

test('a budget order holds its budget and the largest fee, exactly also for huge ones', () => {
  fc.assert(
    fc.property(anyPrice, fc.integer({ min: 1, max: 10 ** 13 }), anyRate, (price, budget, rate) => {
      const order = { side: 'BUY', price, sizeMicro: lotMicro, budgetMicro: budget } as const;
      const held = holdMicro({ ...order, feeRateBps: rate });
      const fee = (BigInt(budget) * BigInt(rate) + 9_999n) / 10_000n;
      expect(BigInt(held)).toBeGreaterThanOrEqual(BigInt(budget) + fee);
      expect(BigInt(held)).toBeLessThanOrEqual(BigInt(budget) + fee + 11n);
    }),
  );
});

test('a sell holds no money', () => {
  const order = { side: 'SELL', price: 5_000, sizeMicro: lotMicro, budgetMicro: 0 } as const;
  expect(holdMicro({ ...order, feeRateBps: 441 })).toBe(0);
});
