import { runLength } from '../../../kit/test/long-runs.ts';
import { bytesOf, seeded } from '../../../kit/test/seeded.ts';
import { RecordTable } from '../../src/feed/record-table.ts';

const [keyWords, stride] = [2, 6];
/** Before each comparison. */
const changes = runLength({ test: 4_000, deep: 20_000 });

function keyOf(number: number): Buffer {
  return bytesOf(8, number);
}

/** Holds the same records as the table: number -> [integer, double]. */
type Twin = Map<number, readonly [number, number]>;

function change(table: RecordTable, twin: Twin, next: (below: number) => number): void {
  const number = next(30_000);
  const slot = table.find(keyOf(number));
  if ((slot === -1) === twin.has(number)) throw new Error(`the table is wrong about ${number}`);
  if (slot !== -1 && next(3) === 0) {
    table.remove(slot);
    twin.delete(number);
    return;
  }
  const place = slot === -1 ? table.add() : slot;
  const [int, float] = [next(2 ** 31) - 2 ** 30, next(2 ** 31) * 1_000_003];
  table.setInt(place, 2, int);
  table.setFloat(place, 4, float);
  twin.set(number, [int, float]);
}

function contents(table: RecordTable): Twin {
  return new Map(
    [...table.slots()].map((slot) => [
      table.keyOf(slot).readUInt32BE(4),
      [table.int(slot, 2), table.float(slot, 4)] as const,
    ]),
  );
}

/** Numbers about which the table and the twin differ. `expect` would compare them a thousand times slower. */
function differences(table: RecordTable, twin: Twin): readonly number[] {
  const found = contents(table);
  return [...new Set([...found.keys(), ...twin.keys()])].filter(
    (number) => found.get(number)?.join() !== twin.get(number)?.join(),
  );
}

describe('RecordTable', () => {
  it.each([1, 2])(
    'holds what a Map holds, also after it is frozen and restored, seed %d',
    (seed) => {
      const next = seeded(seed);
      let table = new RecordTable(keyWords, stride);
      const twin: Twin = new Map();
      for (let round = 0; round < 4; round += 1) {
        for (let count = 0; count < changes; count += 1) change(table, twin, next);
        expect(table.count).toBe(twin.size);
        expect(differences(table, twin)).toEqual([]);
        const frozen = table.freeze();
        const atFreeze = new Map(twin);
        for (let count = 0; count < changes; count += 1) change(table, twin, next);
        const restored = RecordTable.restore(keyWords, stride, frozen);
        expect(differences(restored, atFreeze)).toEqual([]);
        table.thaw();
        expect(differences(table, twin)).toEqual([]);
        if (round === 1) table = RecordTable.restore(keyWords, stride, table.freeze());
      }
    },
  );

  it('refuses memory whose free slots are not a list', () => {
    const table = new RecordTable(keyWords, stride);
    for (let number = 0; number < 10; number += 1) {
      table.find(keyOf(number));
      table.add();
    }
    for (const number of [3, 5]) table.remove(table.find(keyOf(number)));
    const frozen = table.freeze();
    expect(RecordTable.restore(keyWords, stride, frozen).count).toBe(8);
    for (const wrong of [{ freeHead: 9 }, { count: 9 }, { fresh: 9_000 }])
      expect(() => RecordTable.restore(keyWords, stride, { ...frozen, ...wrong })).toThrow();
  });
});
