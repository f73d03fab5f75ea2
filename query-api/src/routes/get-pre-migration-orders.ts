import type { DoorRoute } from '@pm/kit/http';
import { emptyPage } from '../core/cursor.ts';
import { ordersPageSize, readOrdersQuery } from '../core/orders-query.ts';
import { ReadRefusal } from '../core/refusal.ts';
import { provenCaller, unproven } from './caller.ts';
import type { ReadPorts } from './ports.ts';
import { readRoute } from './route.ts';

/** GET /data/pre-migration-orders: nothing was migrated to this exchange (conventions.md 1.6). */
export function preMigrationOrdersRoute({
  callers,
  nowMs,
}: Pick<ReadPorts, 'callers' | 'nowMs'>): DoorRoute {
  const route = { method: 'GET', path: '/data/pre-migration-orders', family: 'clob' } as const;
  return readRoute(route, ({ query, raw }) => {
    if (provenCaller(callers, raw) === null) return unproven({ callers, nowMs }, raw);
    const asked = readOrdersQuery(query);
    return asked instanceof ReadRefusal ? asked : emptyPage(ordersPageSize);
  });
}
