import { unitsOf } from '@pm/domain/books/quote';
import { isoTime } from '@pm/domain/markets/wire-market';
import { type PageBounds, readPageOf } from '@pm/domain/reading/paging';
import { QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import type { ReadRefusal } from '@pm/domain/reading/refusal';
import type { BuilderVolumeRow } from '@pm/domain/reports/rows';
import { microText } from '@pm/schemas/decimal';
import { reportPeriods } from '@pm/schemas/http/report-choices';
import { type LeaderboardPeriod, leaderboardPeriods } from '@pm/schemas/tables/leaderboard-tables';
import { parseBuilder } from './builder-trades.ts';

/** Sums of what builders traded: since when, for which builder, and whether day by day. */
export interface BuilderVolumeSearch {
  /** Unix seconds. */
  readonly sinceS: number;
  readonly builder: string | null;
  readonly daily: boolean;
}

export interface BuilderBoardQuery {
  readonly period: LeaderboardPeriod;
  readonly limit: number;
  readonly offset: number;
}

/** Page bounds, equal to those of the leaderboard of traders. */
const pageBounds: PageBounds = { limitMax: 50, limitDefault: 25, offsetMax: 1_000 };

/** The parameters of GET /v1/builders/leaderboard, or why not (conventions.md 6.1). */
export function readBuilderBoard(
  query: RawQuery,
  strict: boolean,
): BuilderBoardQuery | ReadRefusal {
  const read = new QueryReader(query, 'data');
  if (strict) read.onlyKnown(['timePeriod', 'limit', 'offset']);
  const parsed = {
    period: readPeriod(read),
    ...readPageOf(read, pageBounds),
  };
  return read.refusal ?? parsed;
}

/** The parameters of GET /v1/builders/volume, or why not: it shows a period wholly. */
export function readBuilderPeriod(
  query: RawQuery,
  strict: boolean,
): Pick<BuilderBoardQuery, 'period'> | ReadRefusal {
  const read = new QueryReader(query, 'data');
  if (strict) read.onlyKnown(['timePeriod']);
  const period = readPeriod(read);
  return read.refusal ?? { period };
}

function readPeriod(read: QueryReader): LeaderboardPeriod {
  return read.oneOf('timePeriod', reportPeriods, 'DAY');
}

/** When a period that ends now began, Unix seconds. */
export function sinceOf(period: LeaderboardPeriod, nowMs: number): number {
  const seconds = leaderboardPeriods[period];
  return seconds === null ? 0 : Math.floor(nowMs / 1000) - seconds;
}

/** The rows of one period, largest volume first, with competition ranks. */
export function builderBoard(rows: readonly BuilderVolumeRow[]) {
  const sorted = [...rows].sort(
    (left, right) =>
      right.volumeMicro - left.volumeMicro || (left.builder < right.builder ? -1 : 1),
  );
  let rank = 0;
  return sorted.map((row, index) => {
    if (row.volumeMicro !== sorted[index - 1]?.volumeMicro) rank = index + 1;
    return {
      rank: String(rank),
      builder: row.builder,
      volume: unitsOf(row.volumeMicro),
      activeUsers: row.wallets,
      verified: false,
      builderLogo: '',
    };
  });
}

/** A board for each day, oldest first. */
export function builderDays(rows: readonly BuilderVolumeRow[]) {
  const days = [...new Set(rows.map(({ day }) => day))].sort();
  return days.flatMap((day) =>
    builderBoard(rows.filter((row) => row.day === day)).map((entry) => ({
      dt: isoTime(Date.parse(day)),
      ...entry,
    })),
  );
}

/** Days of one answer: every attributed fill of them is read. */
const daysMax = 365;
const daysDefault = 30;

/** The parameters of GET /builder/volume, or why not: one builder and the last days, today included. */
export function readBuilderVolume(
  query: RawQuery,
  nowMs: number,
): BuilderVolumeSearch | ReadRefusal {
  const read = new QueryReader(query, 'clob');
  const text = read.text('builder') ?? read.text('builder_code');
  const builder = text === null ? read.missing('builder') : parseBuilder(text);
  if (text !== null && builder === null) read.invalid('builder');
  const days = read.integer('days', { min: 1, max: daysMax, otherwise: daysDefault });
  if (read.refusal !== null) return read.refusal;
  const today = Math.floor(nowMs / 86_400_000);
  return { builder, daily: true, sinceS: (today - days + 1) * 86_400 };
}

/** Volume by day, oldest first; days without trades are left out. */
export function builderVolumeDays(rows: readonly BuilderVolumeRow[]) {
  return [...rows]
    .sort((left, right) => (left.day < right.day ? -1 : 1))
    .map(({ day, volumeMicro, wallets }) => ({
      date: day,
      volume: microText(volumeMicro),
      users: wallets,
    }));
}
