import type { Catalog } from '@pm/domain/markets/catalog';
import { requestedPlace } from '@pm/domain/markets/market-filter';
import {
  type FillRow,
  readTradesQuery,
  type TradesPageQuery,
  tradeAnswer,
  tradesPageSize,
} from '@pm/domain/orders/trades';
import { cursorBehind, pageBehind } from '@pm/domain/reading/list-cursor';
import { keyOfPlace } from '@pm/domain/reading/merge-page';
import { emptyPage } from '@pm/domain/reading/paging';
import { ReadRefusal } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import type { CallerDirectory } from '../http/caller.io.ts';
import { type Caller, provenCaller, unproven } from '../http/caller.io.ts';
import { type Answer, readRoute } from '../http/read-route.io.ts';
import type { OwnRecords } from '../recent/own-reads.io.ts';
import type { TradeSearch } from './trade-search.ts';

export interface OwnTradeParts {
  readonly catalog: Catalog;
  readonly own: Pick<OwnRecords, 'trades'>;
  readonly callers: CallerDirectory;
  nowMs(): number;
}

/**
 * GET /data/trades: trades of the caller's keys from any of the caller's wallets, newest first (conventions.md 3.12).
 */
export function dataTradesRoute(parts: OwnTradeParts): HttpHandler {
  const route = { method: 'GET', path: '/data/trades', family: 'clob' } as const;
  return readRoute(route, async ({ query, raw }) => {
    const caller = provenCaller(parts.callers, raw);
    if (caller === null) return unproven(parts, raw);
    const requested = readTradesQuery(query);
    if (requested instanceof ReadRefusal) return requested;
    return await pageFor(parts, caller, requested);
  });
}

async function pageFor(
  { catalog, own }: OwnTradeParts,
  { wallets, keys }: Caller,
  query: TradesPageQuery,
): Promise<Answer> {
  const place = requestedPlace(catalog, query);
  const { makerAddress, start } = query;
  if (start.isOver || place === null) return { ...emptyPage(tradesPageSize), as_of: [] };
  const search: TradeSearch = {
    wallets: new Set(makerAddress === null ? wallets : [makerAddress]),
    keys,
    query,
    ...place,
    after: start.after,
    limit: tradesPageSize + 1,
  };
  const { rows, asOf } = await own.trades(search);
  const cursorOf = (last: FillRow) => cursorBehind(start.digest, keyOfPlace(last));
  const page = pageBehind(rows, tradesPageSize, cursorOf);
  return { ...page, data: page.data.map((row) => tradeAnswer(catalog, row, search)), as_of: asOf };
}
