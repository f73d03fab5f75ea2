import { orderSizeMaxMicro, tickSizes } from '@pm/schemas/money';
import fc from 'fast-check';
import { type AmountsInput, readAmounts } from '../../src/orders/amounts.ts';

/** The rule of conventions.md 3.4 for limit orders in plain BigInt, as slowly as it can be said. */
function limitTwin(input: AmountsInput): { price: number; sizeMicro: number } | null {
  const [usdc, shares] =
    input.side === 'BUY'
      ? [input.makerAmount, input.takerAmount]
      : [input.takerAmount, input.makerAmount];
  const tick = BigInt(input.tick);
  if (shares % 10_000n !== 0n || shares < BigInt(input.minSizeMicro)) return null;
  if (usdc <= 0n || shares <= 0n || shares > 10n ** 13n || usdc > 10n ** 13n) return null;
  for (let price = tick; price <= 10_000n - tick; price += tick) {
    if (price * shares === usdc * 10_000n)
      return { price: Number(price), sizeMicro: Number(shares) };
  }
  return null;
}

const side = fc.constantFrom('BUY' as const, 'SELL' as const);
const tickOf = fc.constantFrom(...tickSizes);

function inputOf(
  side: 'BUY' | 'SELL',
  usdc: bigint,
  shares: bigint,
  more: Partial<AmountsInput>,
): AmountsInput {
  const [makerAmount, takerAmount] = side === 'BUY' ? [usdc, shares] : [shares, usdc];
  const rules = { immediate: false, tick: 100, minSizeMicro: 5_000_000 };
  return { side, makerAmount, takerAmount, ...rules, ...more };
}

test('limit orders are taken exactly when the slow twin takes them, at the same price and size', () => {
  const nearly = fc.tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 3000 }));
  fc.assert(
    fc.property(side, tickOf, nearly, fc.bigInt(-2n, 2n), (of, tick, [price, lots], off) => {
      const shares = BigInt(lots) * 10_000n;
      const input = inputOf(of, BigInt(price) * BigInt(lots) + off, shares, { tick });
      const read = readAmounts(input);
      const wanted = limitTwin(input);
      if (wanted === null) return read.kind === 'refused' || read.refusalIfNew !== null;
      return (
        read.kind === 'amounts' &&
        read.refusalIfNew === null &&
        read.amounts.price === wanted.price &&
        read.amounts.sizeMicro === wanted.sizeMicro &&
        read.amounts.budgetMicro === 0
      );
    }),
    { numRuns: 2_000 },
  );
});

test('amounts of any width give a result, never an exception', () => {
  const any = fc.bigInt(0n, 2n ** 256n - 1n);
  fc.assert(
    fc.property(side, tickOf, any, any, fc.boolean(), (of, tick, usdc, shares, immediate) => {
      return ['amounts', 'refused'].includes(
        readAmounts(inputOf(of, usdc, shares, { tick, immediate })).kind,
      );
    }),
  );
});

test('market buys by every published rounding mean the tick they were made from, or one as good for the buyer', () => {
  const ticks = tickSizes.filter((tick) => tick >= 10);
  fc.assert(
    fc.property(
      fc.constantFrom(...ticks),
      fc.nat(),
      fc.integer({ min: 100, max: 1_000_000 }),
      (tick, at, cents) => {
        const price = tick * (1 + (at % (10_000 / tick - 1)));
        const usdc = BigInt(cents) * 10_000n;
        const exact = (usdc * 10_000n) / BigInt(price);
        // P-TS2, K-PY: shares to the amount's decimals, down; unified SDK: up; ccxt: whole lots, down.
        const forms = [
          exact - (exact % 100n),
          exact + (100n - (exact % 100n)),
          exact - (exact % 10_000n),
        ];
        return forms.every((shares) => {
          const read = readAmounts(inputOf('BUY', usdc, shares, { tick, immediate: true }));
          // Filled up, the largest order of all becomes larger than that.
          if (read.kind === 'refused') return shares < 10_000n || shares > orderSizeMaxMicro;
          const { amounts } = read;
          // Shares cut to lots may stand for several ticks: never one above the signed price but for the tolerance.
          const signed = usdc * 10_000n + (BigInt(tick) * shares) / 100n + 1_000_000n;
          const isWithin = BigInt(amounts.price) * shares <= signed && shares % 10_000n === 0n;
          return (amounts.price === price || isWithin) && BigInt(amounts.budgetMicro) === usdc;
        });
      },
    ),
    { numRuns: 2_000, examples: [[10, 0, 1_000_000]] },
  );
});

test.each([
  ['0.520002 by a market buy of 10 USDC', 10_000_000n, 19_230_700n, 5200],
  ['a hair below the tick', 10_000_000n, 19_230_800n, 5200],
  ['shares cut to lots', 1_000_000n, 1_920_000n, 5200],
  ['shares filled up to lots', 1_000_000n, 1_930_000n, 5200],
])('takes %s as on the grid', (_name, usdc, shares, price) => {
  const read = readAmounts(inputOf('BUY', usdc, shares, { immediate: true }));
  expect(read).toMatchObject({ kind: 'amounts', amounts: { price, budgetMicro: Number(usdc) } });
});

test.each([
  ['a limit order a hair off', inputOf('BUY', 10_000_001n, 20_000_000n, {}), 'invalid_tick_size'],
  ['a price of 1', inputOf('BUY', 20_000_000n, 20_000_000n, {}), 'invalid_tick_size'],
  ['a price above 1', inputOf('SELL', 30_000_000n, 20_000_000n, {}), 'invalid_tick_size'],
  ['half a lot', inputOf('SELL', 2_500_000n, 5_005_000n, {}), 'invalid_amounts'],
  [
    'half a lot sold at the market',
    inputOf('SELL', 2_500_000n, 5_005_000n, { immediate: true }),
    'invalid_amounts',
  ],
  ['no shares', inputOf('BUY', 1n, 0n, {}), 'invalid_amounts'],
  ['no money', inputOf('BUY', 0n, 10_000n, {}), 'invalid_amounts'],
  [
    'no shares at the market',
    inputOf('BUY', 1_000_000n, 0n, { immediate: true }),
    'invalid_amounts',
  ],
  // So few that a price of 0 is within the rounding of a tick.
  ['no money at the market', inputOf('BUY', 0n, 10_000n, { immediate: true }), 'invalid_amounts'],
  ['a lot for nothing', inputOf('SELL', 0n, 10_000n, { immediate: true }), 'invalid_amounts'],
  [
    'more than the largest',
    inputOf('BUY', 10n ** 12n, 10n ** 13n + 10_000n, {}),
    'invalid_amounts',
  ],
] as const)('refuses %s', (_name, input, code) => {
  expect(readAmounts(input)).toMatchObject({ kind: 'refused', refusal: { code } });
});

test.each([
  ['less than the smallest size', inputOf('BUY', 2_495_000n, 4_990_000n, {}), 'invalid_size', 5000],
  [
    'a price between ticks',
    inputOf('SELL', 5_050_000n, 10_000_000n, {}),
    'invalid_tick_size',
    5050,
  ],
  [
    'a market buy between ticks',
    inputOf('BUY', 10_100_000n, 20_000_000n, { immediate: true }),
    'invalid_tick_size',
    0,
  ],
  [
    'a market sell that a tick of 0.01 would take',
    inputOf('SELL', 9_700_600n, 10_000_000n, { immediate: true, tick: 10 }),
    'invalid_tick_size',
    0,
  ],
] as const)('takes %s only if it is known', (_name, input, code, price) => {
  const refusalIfNew = { code };
  expect(readAmounts(input)).toMatchObject({ kind: 'amounts', amounts: { price }, refusalIfNew });
});

test('the smallest size binds what rests, not what fills at once', () => {
  const small = inputOf('SELL', 500_000n, 1_000_000n, { immediate: true });
  expect(readAmounts(small)).toMatchObject({
    kind: 'amounts',
    amounts: { price: 5000, sizeMicro: 1_000_000 },
  });
});
