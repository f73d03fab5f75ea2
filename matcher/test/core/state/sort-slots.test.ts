import fc from 'fast-check';
import { KeyTable } from '../../../src/core/state/key-table.ts';
import { countSlots, sortSlots, sortSlotsByBytes } from '../../../src/core/state/sort-slots.ts';

const slotsOf = (count: number): Int32Array =>
  Int32Array.from({ length: count }, (_, slot) => slot);

/** The expected result of both ways of sorting. */
function plainly(keys: readonly number[]): number[] {
  return [...keys.keys()].sort((a, b) => (keys[a] as number) - (keys[b] as number) || a - b);
}

describe('sorted slots', () => {
  it('are by key and then as given, whether keys and places fit into one double or not', () => {
    for (const max of [3, 1_000, Number.MAX_SAFE_INTEGER]) {
      fc.assert(
        fc.property(fc.array(fc.nat(max), { maxLength: 200 }), (keys) => {
          const sorted = sortSlots(slotsOf(keys.length), (slot) => keys[slot] as number);
          expect([...sorted]).toEqual(plainly(keys));
        }),
      );
    }
  });

  it('are the same when counted', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 200 }), (keys) => {
        const sorted = countSlots(slotsOf(keys.length), 21, (slot) => keys[slot] as number);
        expect([...sorted]).toEqual(plainly(keys));
      }),
    );
  });

  it('are by bytes as Buffer.compare orders them, with equal beginnings and without', () => {
    const bytes = fc.tuple(
      fc.constantFrom(0, 0x7f, 0x80, 0xff),
      fc.uint8Array({ minLength: 11, maxLength: 11 }),
    );
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 100 }), (list) => {
        const table = new KeyTable(3, 4);
        const keyOf = (slot: number): Buffer => table.bytes(slot, 0, 12);
        for (const [first, rest] of list) {
          table.load(0, Buffer.from([first, first, first, 0, ...rest].slice(0, 12)));
          if (table.find() === -1) table.insert();
        }
        const sorted = [...sortSlotsByBytes(table.slots(), table)].map(keyOf);
        expect(sorted).toEqual([...table.slots()].map(keyOf).sort(Buffer.compare));
      }),
    );
  });
});
