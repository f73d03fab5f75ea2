import { crc32 } from 'node:zlib';
import type { OrderPlaced } from '@pm/schemas/log/executions';
import { type Column, isNullable, valueType } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import type { LegSource } from './positions.ts';

/**
 * Digest of a cell: a number below 2^32, the same from an event as from the table. That of text and bytes is their
 * CRC-32, which is in a row already; all other cells are whole numbers: Unix times, prices in 1/10000, amounts in
 * millionths.
 */

/** The largest prime below 2^32: larger numbers are reduced by it, so it is the digest of none and stands for NULL. */
const prime = 4_294_967_291;

export function digestOf(cell: number | null): number {
  if (cell === null) return prime;
  return cell < prime ? cell : cell % prime;
}

export function bytesDigest(bytes: Buffer): number {
  return crc32(bytes);
}

const textDigests = new Map<string, number>();

/** Digest of a symbol or a code: there are few, so they are cached. */
export function textDigest(text: string): number {
  const known = textDigests.get(text);
  if (known !== undefined) return known;
  const digest = crc32(text);
  textDigests.set(text, digest);
  return digest;
}

/** Digest of a column, as an expression of ClickHouse. */
export function digestSql(column: Column): string {
  const sql = valueDigestSql(column.name, valueType(column));
  return isNullable(column) ? `ifNull(${sql}, toUInt32(${prime}))` : sql;
}

function valueDigestSql(name: string, type: string): string {
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

/** Digests in their order as one number below 2^32. */
export function mixOf(digests: readonly number[]): number {
  let mixed = 0;
  for (const digest of digests) {
    const product = Math.imul(mixed ^ digest, factor);
    mixed = product ^ (product >>> shift);
  }
  return mixed >>> 0;
}

/**
 * Expressions of ClickHouse that combine digests in their order into one number below 2^32, like `mixOf`; the last one,
 * `<name>`, is the result.
 */
export function mixSql(digests: readonly string[], name: string): readonly string[] {
  return digests.flatMap((digest, index) => {
    const [product, mixed] = [
      `${name}_p${index}`,
      index === digests.length - 1 ? name : `${name}_${index}`,
    ];
    const before = index === 0 ? 'toUInt32(0)' : `${name}_${index - 1}`;
    return [
      `toUInt32(bitXor(${before}, ${digest}) * toUInt64(${factor})) AS ${product}`,
      `bitXor(${product}, bitShiftRight(${product}, ${shift})) AS ${mixed}`,
    ];
  });
}

/** Digest of a whole row of `open_orders`: such rows are many, and held in memory as long as their orders rest. */
export function openOrderDigest(
  { maker, orderId, apiKey, market, outcome }: OrderPlaced,
  { partition, inOffset, timeMs }: LegSource,
): number {
  const order = [bytesDigest(maker), bytesDigest(orderId), bytesDigest(apiKey), market, outcome];
  return mixOf([...order, digestOf(timeMs), partition, digestOf(inOffset), 0]);
}

/** Digest of a whole row of the table `open_orders`, as expressions of ClickHouse; the last one is `digest`. */
export const openOrderDigestSql = mixSql(tables.openOrders.columns.map(digestSql), 'digest').join(
  ', ',
);
