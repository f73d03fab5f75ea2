import type { DoorRoute } from '@pm/kit/http';
import { emptyPage, pageOf } from '../core/cursor.ts';
import { openOrderAnswer } from '../core/open-order-answer.ts';
import { foldOrder } from '../core/order-read.ts';
import { ordersPageSize, readOrdersQuery } from '../core/orders-query.ts';
import { ReadRefusal } from '../core/refusal.ts';
import { rowsByOrder } from '../core/rows-by-order.ts';
import { provenCaller, unproven } from './caller.ts';
import { placeAsked } from './place-asked.ts';
import type { ReadPorts } from './ports.ts';
import { readRoute } from './route.ts';

type Ports = Pick<ReadPorts, 'catalog' | 'own' | 'callers' | 'nowMs'>;

/** GET /data/orders: open orders of the caller's keys from any of his wallets, newest first (conventions.md 1.6). */
export function dataOrdersRoute(ports: Ports): DoorRoute {
  const route = { method: 'GET', path: '/data/orders', family: 'clob' } as const;
  return readRoute(route, async ({ query, raw }) => {
    const caller = provenCaller(ports.callers, raw);
    if (caller === null) return unproven(ports, raw);
    const asked = readOrdersQuery(query);
    if (asked instanceof ReadRefusal) return asked;
    const place = placeAsked(ports.catalog, asked);
    const { orderId, offset } = asked;
    if (offset < 0 || place === null) return emptyPage(ordersPageSize);
    const search = { wallets: caller.wallets, keys: caller.keys, orderId, ...place };
    const open = await ports.own.openOrders({ ...search, offset, limit: ordersPageSize + 1 });
    const { data, ...page } = pageOf(open, offset, ordersPageSize);
    const orders = await liveOrders(
      ports,
      data.map((row) => row.orderId),
    );
    return { data: orders, ...page, count: orders.length };
  });
}

/** Orders in the order of their ids; one that ended while it was looked up is left out. */
async function liveOrders({ own, catalog }: Ports, ids: readonly string[]) {
  const rows = rowsByOrder(ids.length === 0 ? [] : await own.orderEvents(ids));
  return ids.flatMap((id) => {
    const history = foldOrder(rows.get(id) ?? []);
    if (history.kind !== 'accepted' || history.facts.status !== 'LIVE') return [];
    return [openOrderAnswer(catalog, history)];
  });
}
