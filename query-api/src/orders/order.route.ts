import { claimsKey } from '@pm/domain/accounts/key-claim';
import type { DoorRoute } from '@pm/kit/http';
import { parseOrderId } from '@pm/schemas';
import { isOwn, provenCaller, unproven } from '../door/caller.io.ts';
import type { ReadPorts } from '../door/ports.ts';
import { type Answer, readRoute } from '../door/read-route.io.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import { foldOrder, type OrderEventRow, orderAnswer } from './order-read.ts';

type Ports = Pick<ReadPorts, 'catalog' | 'own' | 'callers' | 'nowMs'>;

/**
 * GET /data/order/:id: what became of an order. Anyone may ask, without seeing its owner; who sends signed headers is told
 * only of his own (conventions.md 1.6). An order that was refused at once was never one; its refusal code stands in the
 * 404.
 */
export function dataOrderRoute(ports: Ports): DoorRoute {
  const route = { method: 'GET', path: '/data/order/:id', family: 'clob' } as const;
  return readRoute(route, async ({ params, raw }) => {
    const caller = claimsKey(raw.headers) ? provenCaller(ports.callers, raw) : undefined;
    if (caller === null) return unproven(ports, raw);
    const id = parseOrderId(params['id'] ?? '');
    if (id === null) return refusals.invalidOrderId;
    const rows = await ports.own.orderEvents([id]);
    if (caller !== undefined && !rows.some((row) => isOwn(caller, row))) {
      return refusals.orderNotFound;
    }
    return answerFor(ports, rows, caller !== undefined);
  });
}

function answerFor({ catalog }: Ports, rows: readonly OrderEventRow[], isOwner: boolean): Answer {
  const history = foldOrder(rows);
  switch (history.kind) {
    case 'accepted':
      return orderAnswer(catalog, history, isOwner);
    case 'refused':
      return new ReadRefusal(404, refusals.orderNotFound.text, {
        code: history.code,
        reason: 'refused',
      });
    case 'unknown':
      return refusals.orderNotFound;
  }
}
