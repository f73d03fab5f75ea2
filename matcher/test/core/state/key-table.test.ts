import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { keyIdOf, roleAllows } from '../../../src/core/index.ts';
import { sha256 } from '../../../src/core/rules/sha256.ts';
import { KeyTable } from '../../../src/core/state/key-table.ts';
import { cancelAll, envelopeOf, opening, orderOf } from '../commands.ts';

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

describe('a key id', () => {
  it('is made by a SHA-256 that agrees with the one of Node', () => {
    for (let length = 0; length < 200; length += 7) {
      const message = Buffer.alloc(length, length);
      expect(sha256(message)).toEqual(createHash('sha256').update(message).digest());
    }
    const digest = createHash('sha256').update(opening.operatorKey).digest();
    expect(keyIdOf(opening.operatorKey)).toEqual(digest.subarray(0, 8));
  });
});

describe('a role', () => {
  it('allows its own commands and no other', () => {
    const tick = { kind: 'Tick', timeMs: 1 } as const;
    expect(roleAllows('INGRESS', envelopeOf([orderOf(1, 1), cancelAll()]))).toBe(true);
    expect(roleAllows('INGRESS', envelopeOf([orderOf(1, 1), tick]))).toBe(false);
    expect(roleAllows('OWNER', envelopeOf([tick]))).toBe(true);
    expect(roleAllows('OWNER', envelopeOf([cancelAll()]))).toBe(false);
    expect(roleAllows('OPERATOR', envelopeOf([opening, cancelAll()]))).toBe(true);
    expect(roleAllows('OPERATOR', envelopeOf([orderOf(1, 1)]))).toBe(false);
    expect(roleAllows('OWNER', envelopeOf([]))).toBe(true);
  });
});
