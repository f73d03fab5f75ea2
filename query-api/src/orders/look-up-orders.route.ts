import type { DoorRoute } from '@pm/kit/http';
import { orderIdsPerRequestMax, parseOrderId } from '@pm/schemas';
import { type Caller, isOwn, provenCaller, unproven } from '../door/caller.io.ts';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute, StatusAnswer } from '../door/read-route.io.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import { foldOrder, type OrderEventRow, orderAnswer } from './order-read.ts';
import { rowsByOrder } from './rows-by-order.ts';

type Ports = Pick<ReadPorts, 'catalog' | 'own' | 'callers' | 'nowMs'>;

/**
 * POST /data/orders: 1 to 500 orders of the caller by id, one entry each in the order asked, with a status of its own
 * (conventions.md 1.6).
 */
export function lookUpOrdersRoute(ports: Ports): DoorRoute {
  const route = { method: 'POST', path: '/data/orders', family: 'clob' } as const;
  return readRoute(route, async ({ body, raw }) => {
    const caller = provenCaller(ports.callers, raw);
    if (caller === null) return unproven(ports, raw);
    const ids = readIds(body);
    if (ids instanceof ReadRefusal) return ids;
    const known = [...new Set(ids.flatMap((id) => parseOrderId(id) ?? []))];
    const rows = rowsByOrder(known.length === 0 ? [] : await ports.own.orderEvents(known));
    const entries = ids.map((id) => {
      const parsed = parseOrderId(id);
      const found = parsed === null ? null : (rows.get(parsed) ?? []);
      return { order_id: id, ...entryFor(ports, caller, found) };
    });
    return new StatusAnswer(207, entries);
  });
}

/** `rows` null for what is no order id. */
function entryFor({ catalog }: Ports, caller: Caller, rows: readonly OrderEventRow[] | null) {
  if (rows === null) return failed(refusals.invalidOrderId);
  const history = foldOrder(rows.filter((row) => isOwn(caller, row)));
  if (history.kind === 'refused') return { ...failed(refusals.orderNotFound), code: history.code };
  if (history.kind === 'unknown') return failed(refusals.orderNotFound);
  return { status: 200, order: orderAnswer(catalog, history, true).order };
}

function failed({ status, text }: ReadRefusal) {
  return { status, error: text };
}

function readIds(body: unknown): readonly string[] | ReadRefusal {
  if (!Array.isArray(body) || body.length === 0) return refusals.invalidPayload;
  if (body.length > orderIdsPerRequestMax) return refusals.payloadTooLarge;
  const ids = body.map(idOf);
  return ids.every((id) => id !== null) ? ids : refusals.invalidPayload;
}

/** Either spelling, or the bare id; texts of no order's length are cut, since they are sent back. */
function idOf(given: unknown): string | null {
  const item = typeof given === 'object' && given !== null ? given : {};
  const { orderId, orderID } = item as { orderId?: unknown; orderID?: unknown };
  const id = typeof given === 'string' ? given : (orderId ?? orderID);
  return typeof id === 'string' ? id.slice(0, shownIdMaxChars) : null;
}

const shownIdMaxChars = 80;
