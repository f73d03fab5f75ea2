import type { DoorRoute } from '@pm/kit/http';
import { type ReadRequest, readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import { assertFigures, type CatalogPorts, listContext } from './catalog-answers.io.ts';
import { clobPage } from './clob-page.io.ts';
import { keysetPage } from './keyset.ts';
import { readMarketsQuery } from './list-markets.ts';
import { readKeysetSpan } from './list-query.ts';
import { MarketTexts } from './market-texts.io.ts';

const paths = {
  list: { method: 'GET', path: '/markets', family: 'gamma' },
  keyset: { method: 'GET', path: '/markets/keyset', family: 'gamma' },
} as const;

/**
 * GET /markets has two meanings: with `next_cursor`, and always under `/clob`, it is the page of the order book family;
 * otherwise the list of the catalog (conventions.md 1.0). GET /markets/keyset is the latter with a cursor.
 */
export function marketsRoutes(ports: CatalogPorts): readonly DoorRoute[] {
  const { catalog } = ports;
  const texts = new MarketTexts(ports);
  return [
    readRoute(paths.list, async (request) => {
      if (isClobList(request)) return await clobPage(ports, request, 'full');
      const asked = readMarketsQuery(request.query, listContext(ports, request.dialect));
      if (asked instanceof ReadRefusal) return asked;
      assertFigures(ports, asked);
      const markets = catalog.marketTable.page(asked.rows, asked.span);
      return Buffer.from(await texts.list(markets, request.dialect));
    }),
    readRoute(paths.keyset, async ({ query, dialect }) => {
      const asked = readMarketsQuery(query, listContext(ports, dialect), readKeysetSpan);
      if (asked instanceof ReadRefusal) return asked;
      assertFigures(ports, asked);
      const { rows, next } = keysetPage(catalog.marketTable, asked.rows, asked.span);
      const nextText = JSON.stringify(next);
      const rest = nextText === '{}' ? '}' : `,${nextText.slice(1)}`;
      return Buffer.from(`{"markets":${await texts.list(rows, dialect)}${rest}`);
    }),
  ];
}

function isClobList({ query, mount }: ReadRequest): boolean {
  return mount === 'clob' || query['next_cursor'] !== undefined;
}
