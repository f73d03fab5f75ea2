import { stateBits } from '@pm/domain/markets/catalog-tables';
import type { RowSpan } from '@pm/domain/markets/row-table';
import type { QueryReader } from '@pm/domain/reading/query-reader';
import { type KeysetSpan, readKeysetStart } from './keyset-cursor.ts';

const sortColumnsMax = 4;
const limitDefault = 20;
/** Rows of a page: as the specification has it, and as clients of the mounts request. */
const limitMax = { specification: 100, family: 500 };

/** Spellings of the mounts' clients, by the name of the column. */
const aliases: Readonly<Record<string, string>> = {
  volumeNum: 'volume',
  volume_num: 'volume',
  volume_24hr: 'volume24hr',
  liquidityNum: 'liquidity',
  liquidity_num: 'liquidity',
  start_date: 'startDate',
  end_date: 'endDate',
  creation_date: 'creationDate',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  closed_time: 'closedTime',
  startDateIso: 'startDate',
  endDateIso: 'endDate',
  acceptingOrdersTimestamp: 'createdAt',
  volume_1wk: 'volume1wk',
  volume_1mo: 'volume1mo',
  volume_1yr: 'volume1yr',
};

/** How the columns of a list are named. */
export interface ListColumns {
  readonly names: readonly string[];
  /** Other names of columns, in both dialects. */
  readonly also?: Readonly<Record<string, string>>;
}

/** Columns of a list that can be read by cursor, with its name. */
export interface KeysetColumns extends ListColumns {
  readonly list: string;
}

/** Whether a list is requested under a mount, where clients know more spellings and larger pages. */
export interface ListDialect {
  readonly isFamily: boolean;
}

/** `limit`; the family takes a larger one for the largest, where the specification refuses it. */
export function readLimit(read: QueryReader, { isFamily }: ListDialect): number {
  const bounds = { min: 1, otherwise: limitDefault };
  if (!isFamily) return read.integer('limit', { ...bounds, max: limitMax.specification });
  return Math.min(limitMax.family, read.integer('limit', bounds));
}

/** `limit`, `offset`, `order` and `ascending` (conventions.md 5.7): by id, newest first, unless requested otherwise. */
export function readSpan(read: QueryReader, columns: ListColumns, dialect: ListDialect): RowSpan {
  return {
    limit: readLimit(read, dialect),
    offset: read.integer('offset', { min: 0, otherwise: 0 }),
    order: read.list('order', sortColumnsMax, (text) => columnOf(text, columns, dialect)) ?? ['id'],
    ascending: read.boolean('ascending') ?? false,
  };
}

/**
 * `limit`, `order`, `ascending` and the cursor of a list that continues after a row: a cursor instead of `offset`, and
 * one column. Call it when all filters have been read.
 */
export function readKeysetSpan(
  read: QueryReader,
  columns: KeysetColumns,
  dialect: ListDialect,
): KeysetSpan {
  const span = readSpan(read, columns, dialect);
  return { ...span, ...readKeysetStart(read, columns.list, span) };
}

/** How the page of a list is read: by offset or by cursor. */
export type ReadPage<S extends RowSpan> = (
  read: QueryReader,
  columns: KeysetColumns,
  dialect: ListDialect,
) => S;

function columnOf(text: string, { names, also = {} }: ListColumns, { isFamily }: ListDialect) {
  const other = isFamily ? { ...aliases, ...also } : also;
  const name = Object.hasOwn(other, text) ? (other[text] ?? text) : text;
  return names.includes(name) ? name : null;
}

/** `active`, `closed` and `archived`; what is not given does not filter. */
export function readState(read: QueryReader): { readonly mask: number; readonly want: number } {
  let [mask, want] = [0, 0];
  for (const name of ['active', 'closed', 'archived'] as const) {
    const wanted = read.boolean(name);
    if (wanted !== null) mask |= stateBits[name];
    if (wanted === true) want |= stateBits[name];
  }
  return { mask, want };
}

/** A number or time that a row has, with the names of its lower and upper bound. */
export interface Range<T> {
  readonly min: readonly string[];
  readonly max: readonly string[];
  of(row: T): number;
  /** Micro-USDC out of figures, micro-units of the row itself, or Unix milliseconds. */
  readonly kind: 'figure' | 'amount' | 'time';
}

/** The dates that events and markets have alike. */
export const dateRanges: readonly Range<{
  readonly startDateMs: number;
  readonly endDateMs: number;
}>[] = [
  {
    min: ['start_date_min'],
    max: ['start_date_max'],
    of: ({ startDateMs }) => startDateMs,
    kind: 'time',
  },
  { min: ['end_date_min'], max: ['end_date_max'], of: ({ endDateMs }) => endDateMs, kind: 'time' },
];

/** Bounds as part of a query: none when none is given. Both ends count. */
export function readRanges<T>(
  read: QueryReader,
  ranges: readonly Range<T>[],
): { readonly test: ((row: T) => boolean) | null; readonly usesFigures: boolean } {
  let usesFigures = false;
  const tests = ranges.flatMap(({ min: mins, max: maxs, of, kind }) => {
    const bound = (name: string) => (kind === 'time' ? read.time(name) : read.micro(name));
    const given = (names: readonly string[]) => names.flatMap((name) => bound(name) ?? []);
    const [lower, upper] = [given(mins), given(maxs)];
    if (lower.length === 0 && upper.length === 0) return [];
    usesFigures ||= kind === 'figure';
    // Without bounds the maximum and the minimum are infinite, which is no bound.
    const [min, max] = [Math.max(...lower), Math.min(...upper)];
    return [(row: T) => of(row) >= min && of(row) <= max];
  });
  return {
    usesFigures,
    test: tests.length === 0 ? null : (row) => tests.every((test) => test(row)),
  };
}

/** A condition that holds when both do; null is none. */
export function bothOf<T>(left: ((row: T) => boolean) | null, right: ((row: T) => boolean) | null) {
  if (left === null || right === null) return left ?? right;
  return (row: T) => left(row) && right(row);
}
