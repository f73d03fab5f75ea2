import fc from 'fast-check';
import { firstSorted } from '../../src/search/search.ts';

test('the first rows are those of the whole list sorted', () => {
  const rows = fc.array(fc.record({ key: fc.nat(20), id: fc.nat() }), { maxLength: 300 });
  const compare = (left: Row, right: Row) => left.key - right.key || left.id - right.id;
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 30 }), (given, count) => {
      const unique = [...new Map(given.map((row) => [row.id, row])).values()];
      expect(firstSorted(unique, count, compare)).toEqual(unique.toSorted(compare).slice(0, count));
    }),
  );
});

interface Row {
  readonly key: number;
  readonly id: number;
}
