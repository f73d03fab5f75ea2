import type { ReadPorts } from '../door/ports.ts';
import { QueryReader, type RawQuery } from '../door/query-reader.ts';
import { type ReadRefusal, refusals } from '../door/refusal.ts';
import type { Listing } from '../markets/catalog.ts';
import { sha1 } from './book-bytes.ts';
import { type Moment, pastBookJson } from './past-book.ts';

/** Whether a request for a book names a moment or a depth. */
export function isOfThePast({ at, at_offset: offset, level }: RawQuery): boolean {
  return at !== undefined || offset !== undefined || level !== undefined;
}

/** The book at `at` or `at_offset`, by `level` 2 or 3 (conventions.md 1.3a). */
export async function pastBookOf(
  ports: Pick<ReadPorts, 'tables' | 'log' | 'nowMs'>,
  listing: Listing,
  query: RawQuery,
): Promise<Buffer | ReadRefusal> {
  const read = new QueryReader(query, 'clob');
  const level = read.oneOf('level', ['2', '3'], '2');
  if (read.refusal !== null) return refusals.invalidLevel;
  const moment = momentIn(read, query);
  if (moment === null) return refusals.invalidMoment;
  if (!(await hasCome(ports, listing, moment))) return refusals.invalidMoment;
  const past = await ports.tables.pastBook(listing, moment, level === '3');
  return past === null ? refusals.noBook : Buffer.from(pastBookJson(listing, past, sha1));
}

async function hasCome(
  { log, nowMs }: Pick<ReadPorts, 'log' | 'nowMs'>,
  { market }: Listing,
  moment: Moment,
): Promise<boolean> {
  if ('atMs' in moment) return moment.atMs >= 0 && moment.atMs <= nowMs();
  return await log.hasCome(market.partition, moment.inOffset);
}

const milliseconds = /^(0|[1-9]\d{0,14})$/;

/** Exactly one of both; null when that is not so. */
function momentIn(read: QueryReader, { at }: RawQuery): Moment | null {
  const inOffset = read.optionalInteger('at_offset', { min: 0, max: Number.MAX_SAFE_INTEGER });
  const atMs = typeof at === 'string' && milliseconds.test(at) ? Number(at) : read.time('at');
  if (read.refusal !== null || (inOffset === null) === (atMs === null)) return null;
  return atMs === null ? { inOffset: inOffset ?? 0 } : { atMs };
}
