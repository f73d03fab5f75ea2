import type { Catalog } from '@pm/domain/markets/catalog';
import { eventsMax, marketNumbers, readMarketFilter } from '@pm/domain/markets/market-filter';
import { parseCatalogId, QueryReader } from '@pm/domain/reading/query-reader';
import { openInterestMarketsMax, openInterestMicro, valueEntry } from '@pm/domain/reports/rows';
import { Fault } from '@pm/kit/fault';
import type { HttpHandler } from '@pm/kit/http';
import { microText } from '@pm/schemas/decimal';
import { parseConditionId } from '@pm/schemas/ids';
import { CachedResponse, readRoute } from '../http/read-route.io.ts';
import type { FiguresWatch } from '../markets/figures.io.ts';
import type { ProgressWatch } from '../status/progress.io.ts';
import type { Reports } from './reports.io.ts';

export interface MarketFigureParts {
  readonly catalog: Catalog;
  readonly reports: Pick<Reports, 'supply' | 'wholeSupply'>;
  readonly figures: Pick<FiguresWatch, 'readAtMs'>;
  readonly progress: Pick<ProgressWatch, 'completeThroughAtMs'>;
  nowMs(): number;
}

/** GET /oi and GET /live-volume: money in markets, and what was traded in them (conventions.md 6.1). */
export function marketFigureRoutes(parts: MarketFigureParts): readonly HttpHandler[] {
  return [openInterestRoute(parts), liveVolumeRoute(parts)];
}

function openInterestRoute(parts: MarketFigureParts): HttpHandler {
  const { catalog, reports } = parts;
  const route = { method: 'GET', path: '/oi', family: 'data' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const read = new QueryReader(query, 'data');
    if (dialect !== 'family') read.onlyKnown(['market']);
    const conditions = read.list('market', openInterestMarketsMax, parseConditionId);
    if (read.refusal !== null) return read.refusal;
    if (conditions === null) {
      const { atMs, value } = await reports.wholeSupply();
      const total = value.map((row) => openInterestMicro(catalog.market(row.market), row));
      return new CachedResponse(atMs, parts, [valueEntry('GLOBAL', sum(total))]);
    }
    const markets = [...new Set(conditions)].flatMap((one) => catalog.byCondition(one) ?? []);
    if (markets.length === 0) return [];
    const rows = await reports.supply(markets.map(({ market }) => market));
    const byMarket = new Map(rows.map((row) => [row.market, row]));
    return markets.map((market) => {
      const supply = byMarket.get(market.market);
      const micro = supply === undefined ? 0 : openInterestMicro(market, supply);
      return valueEntry(market.conditionId, micro);
    });
  });
}

function liveVolumeRoute(parts: MarketFigureParts): HttpHandler {
  const { catalog, figures } = parts;
  const route = { method: 'GET', path: '/live-volume', family: 'data' } as const;
  return readRoute(route, ({ query, dialect }) => {
    const read = new QueryReader(query, 'data');
    if (dialect !== 'family') read.onlyKnown(['market', 'id', 'eventId']);
    const ids = read.list('id', eventsMax, parseCatalogId);
    const asked = readMarketFilter(read);
    const filter = ids === null ? asked : { ...asked, eventIds: ids };
    const numbers = marketNumbers(catalog, filter);
    if (numbers === null) read.missing('id');
    if (read.refusal !== null || numbers === null) return read.refusal ?? [];
    const atMs = figures.readAtMs();
    if (atMs === null) throw new Fault('figures_not_ready', 'retry');
    const volumes = numbers.flatMap((number) => {
      const market = catalog.market(number);
      if (market === undefined) return [];
      return [{ market, micro: catalog.figuresOfMarket(market).volumeMicro }];
    });
    const markets = volumes.map(({ market, micro }) => valueEntry(market.conditionId, micro));
    const total = microText(sum(volumes.map(({ micro }) => micro)));
    return new CachedResponse(atMs, parts, [{ total, markets }]);
  });
}

function sum(micros: readonly number[]): number {
  return micros.reduce((total, micro) => total + micro, 0);
}
