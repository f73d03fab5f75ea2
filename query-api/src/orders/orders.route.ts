import type { DoorRoute } from '@pm/kit/http';
import { provenCaller, unproven } from '../door/caller.io.ts';
import { emptyPage, pageOf } from '../door/paging.ts';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import { placeAsked } from '../markets/requested-place.ts';
import { openOrderAnswer } from './open-order-answer.ts';
import { foldOrder } from './order-read.ts';
import { ordersPageSize, readOrdersQuery } from './orders-query.ts';
import { rowsByOrder } from './rows-by-order.ts';

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
