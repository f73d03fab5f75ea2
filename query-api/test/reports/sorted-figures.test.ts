import fc from 'fast-check';
import { SortedFigures } from '../../src/reports/leaderboard-query.ts';

const figure = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -3n, max: 3n }),
);

test('counts as many above a figure as plain code does, whatever is equal', () => {
  fc.assert(
    fc.property(fc.array(figure), fc.array(figure), (figures, requested) => {
      const bytes = Buffer.alloc(figures.length * 8);
      const ascending = [...figures].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
      for (const [at, one] of ascending.entries()) bytes.writeBigUInt64BE(one + 2n ** 63n, at * 8);
      const sorted = new SortedFigures(bytes);
      for (const one of [...requested, ...figures])
        expect(sorted.countAbove(one)).toBe(figures.filter((other) => other > one).length);
    }),
  );
});
