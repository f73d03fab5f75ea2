import type { DoorRoute } from '@pm/kit/http';
import { provenCaller, unproven } from '../door/caller.io.ts';
import { emptyPage } from '../door/paging.ts';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import { ordersPageSize, readOrdersQuery } from './orders-query.ts';

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
