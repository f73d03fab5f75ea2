import type { Catalog } from '@pm/domain/markets/catalog';
import { requestedPlace } from '@pm/domain/markets/market-filter';
import { cursorBehind, pageBehind } from '@pm/domain/reading/list-cursor';
import { emptyPage } from '@pm/domain/reading/paging';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { BuilderRow } from '@pm/domain/reports/rows';
import type { HttpHandler } from '@pm/kit/http';
import { CachedResponse, readRoute } from '../http/read-route.io.ts';
import type { ProgressWatch } from '../status/progress.io.ts';
import {
  builderPageSize,
  builderTrade,
  keyOfSide,
  parseBuilder,
  readBuilderQuery,
} from './builder-trades.ts';
import {
  builderBoard,
  builderDays,
  builderVolumeDays,
  readBuilderBoard,
  readBuilderPeriod,
  readBuilderVolume,
  sinceOf,
} from './builder-volumes.ts';
import type { Reports } from './reports.io.ts';

export interface BuilderParts {
  readonly catalog: Catalog;
  readonly reports: Pick<Reports, 'builderTrades' | 'builderVolumes'>;
  readonly progress: Pick<ProgressWatch, 'completeThroughAtMs'>;
  nowMs(): number;
}

/** Trades and volume of builders (conventions.md 6.5 and 6.1). */
export function builderRoutes(parts: BuilderParts): readonly HttpHandler[] {
  return [tradesRoute(parts), volumeRoute(parts), feesRoute(), ...boardRoutes(parts)];
}

function tradesRoute({ catalog, reports }: BuilderParts): HttpHandler {
  const route = { method: 'GET', path: '/builder/trades', family: 'clob' } as const;
  return readRoute(route, async ({ query }) => {
    const requested = readBuilderQuery(query);
    if (requested instanceof ReadRefusal) return requested;
    const place = requestedPlace(catalog, requested);
    const { start } = requested;
    if (start.isOver || place === null) return emptyPage(builderPageSize);
    const limit = builderPageSize + 1;
    const search = { query: requested, ...place, after: start.after, limit };
    const rows = await reports.builderTrades(search);
    const cursorOf = (last: BuilderRow) => cursorBehind(start.digest, keyOfSide(last));
    const page = pageBehind(rows, builderPageSize, cursorOf);
    const data = page.data.flatMap((row) => builderTrade(catalog, row));
    return { ...page, data, count: data.length };
  });
}

function volumeRoute(parts: BuilderParts): HttpHandler {
  const route = { method: 'GET', path: '/builder/volume', family: 'clob' } as const;
  return readRoute(route, async ({ query }) => {
    const requested = readBuilderVolume(query, parts.nowMs());
    if (requested instanceof ReadRefusal) return requested;
    const { atMs, value } = await parts.reports.builderVolumes(requested);
    return new CachedResponse(atMs, parts, builderVolumeDays(value));
  });
}

/** Builders charge nothing here; clients add these rates to what they send. */
function feesRoute(): HttpHandler {
  const route = { method: 'GET', path: '/fees/builder-fees/:code', family: 'clob' } as const;
  return readRoute(route, ({ params }) => {
    if (parseBuilder(params['code'] ?? '') === null) return refusals.invalidBuilderCode;
    return {
      builder_maker_flat_fee_bps: 0,
      builder_taker_fee_share_bps: 0,
      builder_maker_fee_rate_bps: 0,
      builder_taker_fee_rate_bps: 0,
    };
  });
}

function boardRoutes(parts: BuilderParts): readonly HttpHandler[] {
  const { reports, nowMs } = parts;
  const board = { method: 'GET', path: '/v1/builders/leaderboard', family: 'data' } as const;
  const volume = { method: 'GET', path: '/v1/builders/volume', family: 'data' } as const;
  return [
    readRoute(board, async ({ query, dialect }) => {
      const requested = readBuilderBoard(query, dialect !== 'family');
      if (requested instanceof ReadRefusal) return requested;
      const search = { sinceS: sinceOf(requested.period, nowMs()), builder: null, daily: false };
      const { atMs, value } = await reports.builderVolumes(search);
      const rows = builderBoard(value).slice(requested.offset, requested.offset + requested.limit);
      return new CachedResponse(atMs, parts, rows);
    }),
    readRoute(volume, async ({ query, dialect }) => {
      const requested = readBuilderPeriod(query, dialect !== 'family');
      if (requested instanceof ReadRefusal) return requested;
      const search = { sinceS: sinceOf(requested.period, nowMs()), builder: null, daily: true };
      const { atMs, value } = await reports.builderVolumes(search);
      return new CachedResponse(atMs, parts, builderDays(value));
    }),
  ];
}
