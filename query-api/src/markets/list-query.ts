import type { QueryReader } from '../door/query-reader.ts';
import { stateBits, textColumns } from './catalog-tables.ts';
import type { RowCursor, SortKey } from './row-order.ts';
import type { RowQuery, RowSpan, RowTable } from './row-table.ts';

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
};

/** How the columns of a list are named. */
export interface ListColumns {
  readonly names: readonly string[];
  /** Other names of columns, in both dialects. */
  readonly also?: Readonly<Record<string, string>>;
}

/** Whether a list is requested under a mount, where clients know more spellings and larger pages. */
export interface ListDialect {
  readonly isFamily: boolean;
}

/** `limit`, `offset`, `order` and `ascending` (conventions.md 5.7): by id, newest first, unless requested otherwise. */
export function readSpan(read: QueryReader, columns: ListColumns, dialect: ListDialect): RowSpan {
  const max = dialect.isFamily ? limitMax.family : limitMax.specification;
  return {
    limit: read.integer('limit', { min: 1, max, otherwise: limitDefault }),
    offset: read.integer('offset', { min: 0, otherwise: 0 }),
    order: read.list('order', sortColumnsMax, (text) => columnOf(text, columns, dialect)) ?? ['id'],
    ascending: read.boolean('ascending') ?? false,
  };
}

/** The same for lists that continue after a row: `after_cursor` instead of `offset`, and one column. */
export function readKeysetSpan(
  read: QueryReader,
  columns: ListColumns,
  dialect: ListDialect,
): RowSpan {
  const span = readSpan(read, columns, dialect);
  return { ...span, offset: 0, after: readAfterCursor(read, span.order) };
}

/** `after_cursor` of a list in this order, which must be of one column; null for the first page. */
export function readAfterCursor(read: QueryReader, order: readonly string[]): RowCursor | null {
  const [column = ''] = order;
  if (order.length !== 1) read.invalid('order');
  const cursor = read.text('after_cursor', cursorMaxChars);
  const after = cursor === null ? null : parseKeyset(cursor, column);
  if (cursor !== null && after === null) read.invalid('after_cursor');
  return after;
}

/** Behind the longest title: 500 characters of at most six bytes (JSON escapes some), in base64. */
const cursorMaxChars = 4_500;

/** A place in a list sorted by a column, as an opaque text. */
export function keysetOf(column: string, { key, number }: RowCursor): string {
  return Buffer.from(JSON.stringify([column, key, number]), 'utf8').toString('base64url');
}

/** Null for what is no cursor, or one of another order. */
function parseKeyset(text: string, column: string): RowCursor | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (!Array.isArray(parsed) || parsed.length !== 3) return null;
    const [name, key, number] = parsed as readonly unknown[];
    return name === column && isKeyOf(column, key) && isInteger(number) ? { key, number } : null;
  } catch {
    return null;
  }
}

function isKeyOf(column: string, value: unknown): value is SortKey {
  return textColumns.includes(column) ? typeof value === 'string' : Number.isFinite(value);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

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
  /** Micro-USDC out of figures, or Unix milliseconds. */
  readonly kind: 'figure' | 'time';
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
    // Of none they are infinite, which is no bound.
    const [min, max] = [Math.max(...lower), Math.min(...upper)];
    return [(row: T) => of(row) >= min && of(row) <= max];
  });
  return {
    usesFigures,
    test: tests.length === 0 ? null : (row) => tests.every((test) => test(row)),
  };
}

/**
 * Rows of a list that continues after a row, and `next_cursor` of the page after them; none after the last page:
 * clients stop there.
 */
export function keysetPage<T extends object>(
  table: RowTable<T>,
  query: RowQuery<T>,
  span: RowSpan,
): { readonly rows: readonly T[]; readonly next: { readonly next_cursor?: string } } {
  const { limit, order } = span;
  const [column = 'id'] = order;
  // One row more says that there is another page.
  const found = table.page(query, { ...span, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  const place = last === undefined ? null : table.cursorOf(last, column);
  return { rows, next: place === null ? {} : { next_cursor: keysetOf(column, place) } };
}
