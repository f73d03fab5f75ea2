import type { Catalog } from '@pm/domain/markets/catalog';
import { QueryReader } from '@pm/domain/reading/query-reader';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import type { CandlesResponse } from '@pm/schemas/http/reading';
import { listingIn } from '../books/tokens.ts';
import { readRoute } from '../http/read-route.io.ts';
import type { TableReads } from '../tables/tables.io.ts';
import { planCandles, wireCandle } from './candles.ts';
import { secondsMax } from './prices-history.route.ts';

export interface CandleParts {
  readonly catalog: Catalog;
  readonly tables: Pick<TableReads, 'candles'>;
  nowMs(): number;
}

/** GET /candles: trades of one token in buckets; an addition of ours (conventions.md 5.4). */
export function candlesRoute(parts: CandleParts): HttpHandler {
  const route = { method: 'GET', path: '/candles', family: 'clob' } as const;
  return readRoute(route, async ({ query }): Promise<CandlesResponse | ReadRefusal> => {
    const listing = listingIn(parts.catalog, query['token_id']);
    if (listing instanceof ReadRefusal) return listing;
    const read = new QueryReader(query, 'clob');
    const seconds = { min: 0, max: secondsMax };
    const request = {
      interval: read.text('interval', 8),
      startS: read.optionalInteger('start', seconds),
      endS: read.optionalInteger('end', seconds),
      limit: read.optionalInteger('limit', { min: 1, max: Number.MAX_SAFE_INTEGER }),
    };
    if (read.refusal !== null) return refusals.invalidPayload;
    const plan = planCandles(request, Math.floor(parts.nowMs() / 1000));
    if (plan instanceof ReadRefusal) return plan;
    const rows = await parts.tables.candles(listing, plan);
    return { candles: rows.map(wireCandle) };
  });
}
