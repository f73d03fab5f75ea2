import { microText, priceText } from '@pm/schemas/decimal';
import { apiKeyFromBytes, orderIdFromBytes } from '@pm/schemas/ids';
import { tables } from '@pm/schemas/tables/tables';
import { seeded } from '../../../kit/test/seeded.ts';
import { pieceBytes, RowMemory } from '../../src/tables/row-memory.ts';
import { RowWriter, type TableRows } from '../../src/tables/row-writer.ts';
import { cellsOf, textOf } from './cells.ts';

const width = tables.completeness.columns.length;

/** The only cell that differs among five. */
function written(cell: (to: RowWriter) => RowWriter): string {
  const rows = new RowWriter(tables.completeness);
  cell(rows);
  for (let filler = 1; filler < width; filler += 1) rows.int(0);
  rows.end();
  return textOf(rows.take()).split('\t')[0] ?? '';
}

/** An assertion takes longer than the writing. */
function isWritten(cell: (to: RowWriter) => RowWriter, text: string): void {
  const found = written(cell);
  if (found !== text) expect(found).toBe(text);
}

/** Whole numbers of every length up to 2^53. */
function numbers(count: number): readonly number[] {
  const next = seeded(3);
  const random = Array.from({ length: count }, () => {
    const digits = next(16);
    return Math.floor((next(1_000_000_000) / 1_000_000_000) * 10 ** digits);
  });
  return [...random, 0, 9, 10, 999_999_999, 1_000_000_000, Number.MAX_SAFE_INTEGER];
}

const secondOf = (ms: number) => String(Math.floor(ms / 1_000)).padStart(10, '0');
const timeOf = (ms: number) => `${secondOf(ms)}.${String(ms % 1_000).padStart(3, '0')}`;

describe('a row writer', () => {
  test('writes numbers and decimals as their texts, of every length and sign', () => {
    for (const value of numbers(3_000)) {
      isWritten((to) => to.int(value), String(value));
      isWritten((to) => to.micro(value), microText(value));
      isWritten((to) => to.micro(-value), microText(-value));
    }
    for (let price = 0; price <= 10_000; price += 1)
      isWritten((to) => to.price(price), priceText(price));
  });

  test('writes times as seconds in ten digits, which ClickHouse reads as a time', () => {
    const next = seeded(4);
    for (let index = 0; index < 2_000; index += 1) {
      const ms = next(2_000_000_000) * 1_000 + next(1_000) - (index % 5 === 0 ? 0 : 1);
      if (ms < 0) continue;
      isWritten((to) => to.time(ms), timeOf(ms));
      isWritten((to) => to.second(ms), secondOf(ms));
    }
    expect([0, 5, 86_400_005].map((ms) => written((to) => to.time(ms)))).toEqual([
      '0000000000.000',
      '0000000000.005',
      '0000086400.005',
    ]);
  });

  test('writes symbols by the numbers of their enum, and refuses others', () => {
    const { bookEvents } = tables;
    const side = bookEvents.columns.findIndex(({ name }) => name === 'side');
    const rows = new RowWriter(bookEvents);
    const write = (symbol: string) => {
      for (let cell = 0; cell < bookEvents.columns.length; cell += 1) {
        if (cell === side) rows.word(symbol);
        else rows.int(0);
      }
      rows.end();
    };
    for (const symbol of ['BUY', 'SELL']) write(symbol);
    const taken = rows.take();
    expect(cellsOf(taken).map((row) => row[side])).toEqual(['BUY', 'SELL']);
    expect(textOf(taken).split('\n')[1]?.split('\t')[side]).toBe('1');
    expect(() => write('HOLD')).toThrow('not a symbol of the column: HOLD');
  });

  test('writes NULL where a column may have it, and refuses it elsewhere', () => {
    const rows = new RowWriter(tables.bookOrders);
    const { columns } = tables.bookOrders;
    for (const { type } of columns) {
      if (type.startsWith('Nullable')) rows.none();
      else {
        expect(() => rows.none()).toThrow('is never NULL');
        rows.int(0);
      }
    }
    rows.end();
    const [row] = cellsOf(rows.take());
    expect(columns.filter((_, index) => row?.[index] === null).map(({ name }) => name)).toEqual([
      'side',
      'price',
    ]);
  });

  test('writes ids as their texts', () => {
    const next = seeded(5);
    for (let round = 0; round < 200; round += 1) {
      const bytes = Buffer.from(Array.from({ length: 32 }, () => next(256)));
      expect(written((to) => to.hex(bytes))).toBe(orderIdFromBytes(bytes));
      const key = bytes.subarray(0, 16);
      expect(written((to) => to.uuid(key))).toBe(apiKeyFromBytes(key));
    }
  });

  test('refuses words that would end a cell, and incomplete rows', () => {
    const rows = new RowWriter(tables.completeness);
    for (const word of ['a\tb', 'a\nb', 'a b', 'a\\b', 'é'])
      expect(() => rows.word(word)).toThrow('word');
    rows.int(1);
    expect(() => rows.end()).toThrow('a row of completeness has 5 cells');
  });

  test('returns rows once, each complete in one piece, however many they are', () => {
    const memory = new RowMemory();
    const rows = new RowWriter(tables.completeness, memory);
    const line = (value: number) => `word-${'x'.repeat(value % 97)}\t${value}\t0\t0\t0\n`;
    const write = (value: number) => {
      rows
        .word(`word-${'x'.repeat(value % 97)}`)
        .int(value)
        .int(0)
        .int(0)
        .int(0)
        .end();
    };
    for (const count of [1, 60, 70_000, 3, 9_000, 0, 70_000]) {
      for (let value = 0; value < count; value += 1) write(value);
      const taken = rows.take();
      write(8);
      expect(taken.count).toBe(count);
      expect(
        textOf(taken) === Array.from({ length: count }, (_, value) => line(value)).join(''),
      ).toBe(true);
      for (const piece of taken.pieces) expect(piece.at(-1) ?? 10).toBe(10);
      expect(textOf(rows.take())).toBe(line(8));
      memory.giveBack(taken.pieces);
    }
  });

  test('reuses memory only when it was given back, and takes it back once', () => {
    const memory = new RowMemory();
    const fill = (value: number): TableRows => {
      const rows = new RowWriter(tables.completeness, memory);
      for (let row = 0; row < 30_000; row += 1)
        rows.word('tables').int(value).int(0).int(0).int(0).end();
      return rows.take();
    };
    const first = fill(1);
    const second = fill(2);
    expect(new Set(textOf(first).split('\n')).size).toBe(2);
    memory.giveBack(first.pieces);
    const third = fill(3);
    expect(
      third.pieces.some(({ buffer }) => first.pieces.some((one) => one.buffer === buffer)),
    ).toBe(true);
    expect(textOf(second)).toBe(textOf(fill(2)));
    memory.giveBack(second.pieces);
    expect(() => memory.giveBack(second.pieces)).toThrow('memory is given back once');
  });

  test('refuses a row that is longer than a piece', () => {
    const rows = new RowWriter(tables.completeness);
    const half = 'x'.repeat(pieceBytes / 2);
    expect(() => rows.word(half).word(half)).toThrow('a row of completeness is too long');
  });
});
