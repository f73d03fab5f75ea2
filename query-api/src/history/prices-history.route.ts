import type { DoorRoute } from '@pm/kit/http';
import type { ReadPorts } from '../door/ports.ts';
import { QueryReader } from '../door/query-reader.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import { historyPoints, noPrices } from './history.ts';
import { firstPriceS, planHistory } from './history-plan.ts';
import { historyTarget } from './history-target.ts';

/** Unix seconds up to the year 2105, what the tables hold. */
export const secondsMax = 4_200_000_000;
/** A week in minutes and more: anything wider is the widest bucket. */
export const fidelityMax = 1_000_000;

/** GET /prices-history: midpoints of one token in buckets (conventions.md 1.4). */
export function pricesHistoryRoute(
  ports: Pick<ReadPorts, 'catalog' | 'tables' | 'nowMs'>,
): DoorRoute {
  const route = { method: 'GET', path: '/prices-history', family: 'clob' } as const;
  return readRoute(route, async ({ query }) => {
    const read = new QueryReader(query, 'clob');
    const target = read.text('market');
    const seconds = { min: 0, max: secondsMax };
    const request = {
      interval: read.text('interval', 8),
      startS: read.optionalInteger('startTs', seconds) ?? read.optionalInteger('start_ts', seconds),
      endS: read.optionalInteger('endTs', seconds) ?? read.optionalInteger('end_ts', seconds),
      fidelity: read.optionalInteger('fidelity', { min: 1, max: fidelityMax }),
    };
    if (read.refusal !== null || target === null) return refusals.invalidPayload;
    const listing = historyTarget(ports.catalog, target);
    if (listing === null) return refusals.invalidToken;
    const firstS = firstPriceS(listing === undefined ? [] : [listing.market]);
    const plan = planHistory(request, { nowS: Math.floor(ports.nowMs() / 1000), firstS });
    if (plan instanceof ReadRefusal) return plan;
    if (listing === undefined) return { history: [] };
    const [facts = noPrices] = await ports.tables.prices([listing], plan);
    return { history: historyPoints(plan, facts, listing.outcome) };
  });
}
