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

  it('uses no slot again that is detached or was removed while it is frozen', () => {
    for (const capacity of [64, 128]) {
      const table = new KeyTable(1, 2);
      const insert = (key: number): number => {
        table.key[0] = key;
        expect(table.find()).toBe(-1);
        return table.insert();
      };
      const slots = Array.from({ length: capacity }, (_, key) => insert(key));
      table.held.isFrozen = true;
      for (const slot of slots.slice(0, 10)) table.remove(slot);
      for (const slot of slots.slice(10, 20)) table.detach(slot);
      const others = Array.from({ length: capacity }, (_, key) => insert(1_000 + key));
      expect(new Set([...slots, ...others]).size).toBe(2 * capacity);
      for (const [key, slot] of others.entries()) {
        table.key[0] = 1_000 + key;
        expect(table.find()).toBe(slot);
      }
      table.held.isFrozen = false;
      for (const slot of slots.slice(10, 20)) table.release(slot);
      const reused = Array.from({ length: 20 }, (_, key) => insert(5_000 + key));
      expect(reused.sort((a, b) => a - b)).toEqual(slots.slice(0, 20));
    }
  });
});
