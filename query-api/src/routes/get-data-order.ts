import type { DoorRoute } from '@pm/kit/http';
import { claimsKey, type KeyHolder } from '@pm/kit/walletauth';
import { parseOrderId } from '@pm/schemas';
import { foldOrder, type OrderEventRow, orderAnswer } from '../core/order-read.ts';
import { ReadRefusal, refusals } from '../core/refusal.ts';
import type { CallerReads, ReadPorts } from './ports.ts';
import { type Answer, type ReadRequest, readRoute, signedFacts } from './route.ts';

type Ports = Pick<ReadPorts, 'catalog' | 'tables' | 'callers'>;

/**
 * GET /data/order/:id: what became of an order. Anyone may ask, without seeing its owner; who sends signed headers is told
 * only of his own (docs/conventions.md 1.6). A refused order was never one; its refusal code stands in the 404.
 */
export function dataOrderRoute(ports: Ports): DoorRoute {
  const route = { method: 'GET', path: '/data/order/:id', family: 'clob' } as const;
  return readRoute(route, async ({ params, raw }) => {
    const caller = callerOf(ports.callers, raw);
    if (caller === undefined) return refusals.unauthorized;
    const id = parseOrderId(params['id'] ?? '');
    if (id === null) return refusals.invalidOrderId;
    const rows = await ports.tables.orderEvents(id);
    if (caller !== null && !rows.some((row) => isOwnerOf(ports.callers, caller, row))) {
      return refusals.orderNotFound;
    }
    return answerFor(ports, { id, rows, isOwner: caller !== null });
  });
}

/** Null for callers who claim nothing, undefined for those whose claim is not proven. */
function callerOf(callers: CallerReads, raw: ReadRequest['raw']): KeyHolder | null | undefined {
  if (!claimsKey(raw.headers)) return null;
  return callers.verify(signedFacts(raw)) ?? undefined;
}

function isOwnerOf(callers: CallerReads, caller: KeyHolder, row: OrderEventRow): boolean {
  if (row.wallet === caller.wallet) return true;
  return [...callers.keysOf(caller.wallet)].some((key) => key === row.apiKey);
}

function answerFor(
  { catalog }: Ports,
  asked: {
    readonly id: string;
    readonly rows: readonly OrderEventRow[];
    readonly isOwner: boolean;
  },
): Answer {
  const history = foldOrder(asked.rows);
  switch (history.kind) {
    case 'placed':
      return orderAnswer(catalog, history, asked);
    case 'refused':
      return new ReadRefusal(404, refusals.orderNotFound.text, { code: history.code });
    case 'unknown':
      return refusals.orderNotFound;
  }
}
