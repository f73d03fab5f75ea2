import { apiKeyFromBytes, microText, orderIdFromBytes, priceText, tables } from '@pm/schemas';
import { RowWriter } from '../../src/core/row-writer.ts';
import { seeded } from '../log.ts';

const width = tables.completeness.columns.length;

/** The only cell that differs among five. */
function written(cell: (to: RowWriter) => RowWriter): string {
  const rows = new RowWriter(tables.completeness);
  cell(rows);
  for (let filler = 1; filler < width; filler += 1) rows.int(0);
  rows.end();
  return rows.take().bytes.toString('latin1').split('\t')[0] ?? '';
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

const timeOf = (ms: number) => new Date(ms).toISOString().replace('T', ' ').replace('Z', '');

describe('a row writer', () => {
  test('writes numbers and decimals as their texts, of every length and sign', () => {
    for (const value of numbers(3_000)) {
      expect(written((to) => to.int(value))).toBe(String(value));
      expect(written((to) => to.micro(value))).toBe(microText(value));
      expect(written((to) => to.micro(-value))).toBe(microText(-value));
    }
    for (let price = 0; price <= 10_000; price += 1)
      expect(written((to) => to.price(price))).toBe(priceText(price));
  });

  test('writes moments of any day, whatever came before', () => {
    const next = seeded(4);
    for (let index = 0; index < 2_000; index += 1) {
      const ms = next(2_000_000_000) * 1_000 + next(1_000) - (index % 5 === 0 ? 0 : 1);
      if (ms < 0) continue;
      expect(written((to) => to.time(ms))).toBe(timeOf(ms));
      expect(written((to) => to.second(ms))).toBe(timeOf(ms).slice(0, 19));
    }
    const rows = new RowWriter(tables.completeness);
    rows.time(5).time(0).time(86_400_005).time(5).second(1_000).end();
    expect(rows.take().bytes.toString()).toBe(
      `${[5, 0, 86_400_005, 5].map(timeOf).join('\t')}\t1970-01-01 00:00:01\n`,
    );
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

  test('refuses words that would end a cell, and rows that are not whole', () => {
    const rows = new RowWriter(tables.completeness);
    for (const word of ['a\tb', 'a\nb', 'a b', 'a\\b', 'é'])
      expect(() => rows.word(word)).toThrow('word');
    rows.int(1);
    expect(() => rows.end()).toThrow('a row of completeness has 5 cells');
  });

  test('gives rows away once, in memory of their own', () => {
    const rows = new RowWriter(tables.completeness);
    const write = (value: number) => rows.int(value).int(0).int(0).int(0).int(0).end();
    for (let value = 0; value < 1_000; value += 1) write(value);
    const first = rows.take();
    expect([first.count, rows.count]).toEqual([1_000, 0]);
    write(7);
    expect(first.bytes.toString().split('\n')[999]).toBe('999\t0\t0\t0\t0');
    expect(rows.take().bytes.toString()).toBe('7\t0\t0\t0\t0\n');
    for (let round = 0; round < 3; round += 1) {
      for (let value = 0; value < 50_000; value += 1) write(value);
      const large = rows.take();
      write(8);
      const lines = large.bytes.toString().split('\n');
      expect([lines.length, lines[49_999]]).toEqual([50_001, '49999\t0\t0\t0\t0']);
      expect(rows.take().bytes.toString()).toBe('8\t0\t0\t0\t0\n');
    }
  });
});
