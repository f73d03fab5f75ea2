import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { Book } from '../../src/core/book.ts';
import { keyIdOf, roleAllows } from '../../src/core/index.ts';
import { KeyTable } from '../../src/core/key-table.ts';
import { Ladder } from '../../src/core/ladder.ts';
import { sha256 } from '../../src/core/sha256.ts';
import { cancelAll, envelopeOf, opening, orderOf } from './commands.ts';

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

describe('a ladder', () => {
  it.each([1, 10, 25, 50, 100, 1_000])('finds the next occupied level, tick %d', (tick) => {
    const last = 10_000 / tick - 1;
    const level = fc.integer({ min: 1, max: last });
    fc.assert(
      fc.property(fc.uniqueArray(level, { maxLength: 40 }), level, (levels, from) => {
        const ladder = new Ladder(tick);
        for (const each of levels) ladder.occupy(each, true);
        expect(ladder.below(from)).toBe(Math.max(0, ...levels.filter((each) => each < from)));
        expect(ladder.above(from)).toBe(
          Math.min(last + 1, ...levels.filter((each) => each > from)),
        );
      }),
      { numRuns: 200 },
    );
  });
});

describe('the bare book', () => {
  it('takes what crosses and rests what is left', () => {
    const book = new Book();
    const market = book.addMarket(100);
    const first = book.place({ market, isBid: false, price: 5_500, lots: 10, rests: true });
    const second = book.place({ market, isBid: false, price: 5_400, lots: 10, rests: true });
    const fills: [number, number][] = [];
    const taker = { market, isBid: true, price: 5_600, lots: 25, rests: true };
    const rest = book.place(taker, (maker, lots) => fills.push([maker, lots]));
    expect(fills).toEqual([
      [second, 10],
      [first, 10],
    ]);
    expect([book.bestBid(market), book.bestAsk(market)]).toEqual([5_600, 0]);
    expect(book.levelLots(market, true, 5_600)).toBe(5);
    book.remove(rest);
    expect(book.bestBid(market)).toBe(0);
    expect(book.place({ ...taker, rests: false })).toBe(-1);
    book.endRecord();
    expect(book.touched.levels).toEqual([]);
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
