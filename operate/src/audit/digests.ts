import { crc32 } from 'node:zlib';
import type { Column } from '@pm/schemas';

/**
 * A cell of a row as a number below 2^32, the same from an event as from the table. Text and bytes are their CRC-32, which must
 * stand in a row already; all other cells are whole numbers: Unix times, prices in 1/10000, amounts in millionths.
 */

/** The largest prime below 2^32: what larger numbers are told apart by. */
const prime = 4_294_967_291;

export function wordOf(cell: number): number {
  return cell < prime ? cell : cell % prime;
}

export function bytesWord(bytes: Buffer): number {
  return crc32(bytes);
}

const textWords = new Map<string, number>();

/** Of a symbol or a code: there are few. */
export function textWord(text: string): number {
  const known = textWords.get(text);
  if (known !== undefined) return known;
  const word = crc32(text);
  textWords.set(text, word);
  return word;
}

/** The word of a column, as an expression of ClickHouse. */
export function wordSql({ name, type }: Column): string {
  if (type.startsWith('Enum') || type.endsWith('String)')) return `CRC32(toString(${name}))`;
  if (type === 'FixedString(36)') return `CRC32(unhex(replaceAll(toString(${name}), '-', '')))`;
  if (type.startsWith('FixedString')) return `CRC32(unhex(substring(toString(${name}), 3)))`;
  return `toUInt32(${numberSql(name, type)} % ${prime})`;
}

function numberSql(name: string, type: string): string {
  if (type.startsWith('DateTime64')) return `toUInt64(toUnixTimestamp64Milli(${name}))`;
  if (type.startsWith('DateTime')) return `toUnixTimestamp(${name})`;
  const digits = /^Decimal\((\d+),/.exec(type)?.[1];
  if (digits === undefined) return name;
  return Number(digits) > 9 ? `reinterpretAsUInt64(${name})` : `reinterpretAsUInt32(${name})`;
}

const factor = 0x9e3779b1;
const shift = 15;

/** Words in their order as one number below 2^32. */
export function mixOf(words: readonly number[]): number {
  let mixed = 0;
  for (const word of words) {
    const product = Math.imul(mixed ^ word, factor);
    mixed = product ^ (product >>> shift);
  }
  return mixed >>> 0;
}

/** The same as a list of expressions; the last one, named `<name>`, is it. */
export function mixSql(words: readonly string[], name: string): readonly string[] {
  return words.flatMap((word, index) => {
    const [product, mixed] = [
      `${name}_p${index}`,
      index === words.length - 1 ? name : `${name}_${index}`,
    ];
    const before = index === 0 ? 'toUInt32(0)' : `${name}_${index - 1}`;
    return [
      `toUInt32(bitXor(${before}, ${word}) * toUInt64(${factor})) AS ${product}`,
      `bitXor(${product}, bitShiftRight(${product}, ${shift})) AS ${mixed}`,
    ];
  });
}
