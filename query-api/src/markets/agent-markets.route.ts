import type { DoorRoute } from '@pm/kit/http';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import {
  assertFigures,
  type CatalogPorts,
  listContext,
  marketAnswers,
} from './catalog-answers.io.ts';
import { readMarketsQuery } from './list-markets.ts';

/**
 * GET /api/v1/markets: markets of the catalog for agents, in a wrapper. A key that is missing, bad or paused reads like
 * nobody (specification, "Agent API key").
 */
export function agentMarketsRoute(ports: CatalogPorts): DoorRoute {
  const { catalog } = ports;
  const route = { method: 'GET', path: '/api/v1/markets', family: 'gamma' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const asked = readMarketsQuery(query, listContext(ports, dialect));
    if (asked instanceof ReadRefusal) return asked;
    assertFigures(ports, asked);
    const markets = catalog.marketTable.page(asked.rows, asked.span);
    const data = await marketAnswers(ports, markets, dialect);
    const { limit, offset } = asked.span;
    return { data, limit, offset, count: data.length };
  });
}
