import type { DoorRoute } from '@pm/kit/http';
import { parseConditionId, parseTokenId } from '@pm/schemas';
import { readRoute } from '../door/read-route.io.ts';
import { refusals } from '../door/refusal.ts';
import type { CatalogPorts } from './catalog-answers.io.ts';
import { compactMarket, marketByToken } from './clob-market.ts';
import { type ClobList, clobPage } from './clob-page.io.ts';

const lists: readonly (readonly [string, ClobList])[] = [
  ['/sampling-markets', 'sampling'],
  ['/sampling-simplified-markets', 'sampling-simplified'],
  ['/simplified-markets', 'simplified'],
];

/** Markets of the order book family: pages, by token, and the compact form that clients read before a market order. */
export function clobListRoutes(ports: CatalogPorts): readonly DoorRoute[] {
  const { catalog } = ports;
  const route = (path: string) => ({ method: 'GET', path, family: 'clob' }) as const;
  return [
    ...lists.map(([path, list]) =>
      readRoute(route(path), (request) => clobPage(ports, request, list)),
    ),
    readRoute(route('/markets-by-token/:token_id'), ({ params }) => {
      const token = parseTokenId(params['token_id'] ?? '');
      if (token === null) return refusals.invalidToken;
      const listing = catalog.listing(token);
      return listing === undefined ? refusals.marketNotFound : marketByToken(listing.market);
    }),
    readRoute(route('/clob-markets/:condition_id'), ({ params }) => {
      const condition = parseConditionId(params['condition_id'] ?? '');
      if (condition === null) return refusals.invalidMarket;
      const market = catalog.byCondition(condition);
      return market === undefined ? refusals.marketNotFound : compactMarket(market);
    }),
  ];
}
