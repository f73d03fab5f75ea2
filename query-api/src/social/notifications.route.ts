import type { DoorRoute } from '@pm/kit/http';
import { notificationDays, notificationsMax } from '@pm/schemas';
import { type Caller, provenCaller, unproven } from '../door/caller.io.ts';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { rowsByOrder } from '../orders/order-read.ts';
import { anyTrade } from '../orders/trades.ts';
import {
  cancelHappening,
  fillHappenings,
  type Happening,
  notificationOf,
  resolutionHappening,
  shownHappenings,
} from './notifications.ts';

type Ports = Pick<ReadPorts, 'catalog' | 'own' | 'callers' | 'nowMs'>;

const dayMs = 86_400_000;
/** Stands for the API key where a wallet has none left. */
const noKey = '00000000-0000-0000-0000-000000000000';

/**
 * GET /notifications: fills and cancels of the caller's orders and resolutions of markets he was in, the newest 100 of seven
 * days (conventions.md 1.7). They are read off the log; what was deleted is left out.
 */
export function notificationsRoute(ports: Ports): DoorRoute {
  const route = { method: 'GET', path: '/notifications', family: 'clob' } as const;
  return readRoute(route, async ({ raw }) => {
    const caller = provenCaller(ports.callers, raw);
    if (caller === null) return unproven(ports, raw);
    const found = await happenings(ports, caller);
    const shown = shownHappenings(found, ports.callers.deletedBy(caller.wallet));
    const ids = [...new Set(shown.flatMap(({ orderId }) => (orderId === '' ? [] : [orderId])))];
    const rows = rowsByOrder(ids.length === 0 ? [] : await ports.own.orderEvents(ids));
    return shown.flatMap(
      (one) => notificationOf(ports.catalog, one, rows.get(one.orderId) ?? []) ?? [],
    );
  });
}

async function happenings(ports: Ports, caller: Caller): Promise<readonly Happening[]> {
  const { keys, wallets } = caller;
  const sinceMs = ports.nowMs() - notificationDays * dayMs;
  // As many more as may be deleted: with all of those gone there is still a full list.
  const limit = notificationsMax + ports.callers.deletedBy(caller.wallet).size;
  const query = { ...anyTrade, afterS: Math.floor(sinceMs / 1000) };
  const viewer = { wallets: new Set<string>(wallets), keys };
  const [fills, cancels, resolved] = await Promise.all([
    ports.own.trades({ ...viewer, query, market: null, outcome: null, limit }),
    ports.own.cancels({ wallets, keys, sinceMs, limit }),
    resolvedMarkets(ports, caller, sinceMs),
  ]);
  const owner = caller.apiKey ?? [...keys][0] ?? noKey;
  return [
    ...fills.flatMap((row) => fillHappenings(row, viewer)),
    ...cancels.map(cancelHappening),
    ...resolved.map((market) => resolutionHappening(market, owner)),
  ];
}

async function resolvedMarkets({ catalog, own }: Ports, { wallets }: Caller, sinceMs: number) {
  const held = await own.marketsOf(wallets);
  return held
    .flatMap((market) => catalog.market(market) ?? [])
    .filter(({ payout0, updatedAtMs }) => payout0 >= 0 && updatedAtMs >= sinceMs);
}
