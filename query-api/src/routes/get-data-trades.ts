import type { DoorRoute } from '@pm/kit/http';
import type { KeyHolder } from '@pm/kit/walletauth';
import type { Catalog } from '../core/catalog.ts';
import { endCursor, pageOf } from '../core/cursor.ts';
import { ReadRefusal, refusals } from '../core/refusal.ts';
import { readTradesQuery, type TradesQuery, tradeAnswer, tradesPageSize } from '../core/trades.ts';
import type { ReadPorts, TradeSearch } from './ports.ts';
import { type Answer, readRoute, signedFacts } from './route.ts';

type Ports = Pick<ReadPorts, 'catalog' | 'tables' | 'callers'>;

/** GET /data/trades: trades of the calling key's wallet, newest first (docs/conventions.md 1.6). */
export function dataTradesRoute(ports: Ports): DoorRoute {
  const route = { method: 'GET', path: '/data/trades', family: 'clob' } as const;
  return readRoute(route, async ({ query, raw }) => {
    const caller = ports.callers.verify(signedFacts(raw));
    if (caller === null) return refusals.unauthorized;
    const asked = readTradesQuery(query);
    if (asked instanceof ReadRefusal) return asked;
    return await pageFor(ports, caller, asked);
  });
}

async function pageFor(ports: Ports, caller: KeyHolder, query: TradesQuery): Promise<Answer> {
  const place = placeAsked(ports.catalog, query);
  if (query.offset < 0 || place === null) {
    return { data: [], next_cursor: endCursor, limit: tradesPageSize, count: 0 };
  }
  const search: TradeSearch = {
    wallet: query.makerAddress ?? caller.wallet,
    keys: ports.callers.keysOf(caller.wallet),
    query,
    ...place,
    limit: tradesPageSize + 1,
  };
  const rows = await ports.tables.trades(search);
  const trades = rows.map((row) => tradeAnswer(ports.catalog, row, search));
  return pageOf(trades, query.offset, tradesPageSize);
}

/** The market and outcome a query names; null when it names one that is not listed, or two that do not agree. */
function placeAsked(
  catalog: Catalog,
  { condition, token }: TradesQuery,
): Pick<TradeSearch, 'market' | 'outcome'> | null {
  const named = condition === null ? undefined : catalog.byCondition(condition);
  if (condition !== null && named === undefined) return null;
  if (token === null) return { market: named?.market ?? null, outcome: null };
  const listing = catalog.listing(token);
  if (listing === undefined || (named !== undefined && named !== listing.market)) return null;
  return { market: listing.market.market, outcome: listing.outcome };
}
