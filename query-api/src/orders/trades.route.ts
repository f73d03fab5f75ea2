import type { DoorRoute } from '@pm/kit/http';
import type { CallerDirectory } from '../door/caller.io.ts';
import { type Caller, provenCaller, unproven } from '../door/caller.io.ts';
import { emptyPage, pageOf } from '../door/paging.ts';
import { type Answer, readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import type { Catalog } from '../markets/catalog.ts';
import { requestedPlace } from '../markets/market-filter.ts';
import type { OwnRecords } from '../recent/own-reads.io.ts';
import type { TradeSearch } from './trade-search.ts';
import { readTradesQuery, type TradesQuery, tradeAnswer, tradesPageSize } from './trades.ts';

export interface OwnTradeParts {
  readonly catalog: Catalog;
  readonly own: Pick<OwnRecords, 'trades'>;
  readonly callers: CallerDirectory;
  nowMs(): number;
}

/**
 * GET /data/trades: trades of the caller's keys from any of the caller's wallets, newest first (conventions.md 3.12).
 */
export function dataTradesRoute(parts: OwnTradeParts): DoorRoute {
  const route = { method: 'GET', path: '/data/trades', family: 'clob' } as const;
  return readRoute(route, async ({ query, raw }) => {
    const caller = provenCaller(parts.callers, raw);
    if (caller === null) return unproven(parts, raw);
    const requested = readTradesQuery(query);
    if (requested instanceof ReadRefusal) return requested;
    return await pageFor(parts, caller, requested);
  });
}

async function pageFor(parts: OwnTradeParts, caller: Caller, query: TradesQuery): Promise<Answer> {
  const place = requestedPlace(parts.catalog, query);
  if (query.offset < 0 || place === null) return emptyPage(tradesPageSize);
  const { makerAddress } = query;
  const search: TradeSearch = {
    wallets: new Set(makerAddress === null ? caller.wallets : [makerAddress]),
    keys: caller.keys,
    query,
    ...place,
    limit: tradesPageSize + 1,
  };
  const rows = await parts.own.trades(search);
  const trades = rows.map((row) => tradeAnswer(parts.catalog, row, search));
  return pageOf(trades, query.offset, tradesPageSize);
}
