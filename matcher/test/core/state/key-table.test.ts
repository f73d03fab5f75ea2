import fc from 'fast-check';
import { KeyTable } from '../../../src/core/state/key-table.ts';

describe('a key table', () => {
  it('finds what a Map finds, through any inserts and removals', () => {
    const step = fc.record({ key: fc.nat(300), remove: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 2_000 }), (steps) => {
        const table = new KeyTable(2, 4);
        const twin = new Map<number, number>();
        const find = (key: number): number => {
          table.key[0] = key % 17;
          table.key[1] = key;
          return table.find();
        };
        for (const { key, remove } of steps) {
          const slot = find(key);
          expect(slot).toBe(twin.get(key) ?? -1);
          if (slot === -1) twin.set(key, table.insert());
          else if (remove && twin.delete(key)) table.remove(slot);
        }
        expect([...table.slots()]).toEqual([...twin.values()].sort((a, b) => a - b));
        expect(table.count).toBe(twin.size);
      }),
      { numRuns: 60 },
    );
  });
});
