import type { Catalog } from '@pm/domain/markets/catalog';
import { rowsByOrder } from '@pm/domain/orders/order-read';
import { anyTrade } from '@pm/domain/orders/trades';
import type { DeletedNotifications } from '@pm/domain/social/notifications';
import {
  cancelHappening,
  fillHappenings,
  type Happening,
  notificationOf,
  resolutionHappening,
  shownHappenings,
} from '@pm/domain/social/notifications';
import type { HttpHandler } from '@pm/kit/http';
import { notificationDays, notificationsMax } from '@pm/schemas/http/notifications';
import type { CallerDirectory } from '../http/caller.io.ts';
import { type Caller, provenCaller, unproven } from '../http/caller.io.ts';
import { readRoute } from '../http/read-route.io.ts';
import type { OwnRecords } from '../recent/own-reads.io.ts';

export interface NotificationParts {
  readonly catalog: Catalog;
  readonly own: Pick<OwnRecords, 'cancels' | 'marketsOf' | 'orderEvents' | 'trades'>;
  readonly callers: CallerDirectory;
  readonly deleted: Pick<DeletedNotifications, 'of'>;
  nowMs(): number;
}

const dayMs = 86_400_000;
/** Stands for the API key where a wallet has none left. */
const noKey = '00000000-0000-0000-0000-000000000000';

/**
 * GET /notifications: fills and cancels of the caller's orders and resolutions of the caller's markets, the newest 100
 * of seven days (conventions.md 4.1). They are read off the log; what was deleted is left out.
 */
export function notificationsRoute(parts: NotificationParts): HttpHandler {
  const route = { method: 'GET', path: '/notifications', family: 'clob' } as const;
  return readRoute(route, async ({ raw }) => {
    const caller = provenCaller(parts.callers, raw);
    if (caller === null) return unproven(parts, raw);
    const found = await happenings(parts, caller);
    const shown = shownHappenings(found, parts.deleted.of(caller.wallet));
    const ids = [...new Set(shown.flatMap(({ orderId }) => (orderId === '' ? [] : [orderId])))];
    const rows = rowsByOrder(ids.length === 0 ? [] : await parts.own.orderEvents(ids));
    return shown.flatMap(
      (one) => notificationOf(parts.catalog, one, rows.get(one.orderId) ?? []) ?? [],
    );
  });
}

async function happenings(parts: NotificationParts, caller: Caller): Promise<readonly Happening[]> {
  const { keys, wallets } = caller;
  const sinceMs = parts.nowMs() - notificationDays * dayMs;
  // As many more as may be deleted: with all of those gone there is still a full list.
  const limit = notificationsMax + parts.deleted.of(caller.wallet).size;
  const query = { ...anyTrade, afterS: Math.floor(sinceMs / 1000) };
  const viewer = { wallets: new Set<string>(wallets), keys };
  const [fills, cancels, resolved] = await Promise.all([
    parts.own.trades({ ...viewer, query, market: null, outcome: null, after: null, limit }),
    parts.own.cancels({ wallets, keys, sinceMs, limit }),
    resolvedMarkets(parts, caller, sinceMs),
  ]);
  const owner = caller.apiKey ?? [...keys][0] ?? noKey;
  return [
    ...fills.rows.flatMap((row) => fillHappenings(row, viewer)),
    ...cancels.map(cancelHappening),
    ...resolved.map((market) => resolutionHappening(market, owner)),
  ];
}

async function resolvedMarkets(
  { catalog, own }: NotificationParts,
  { wallets }: Caller,
  sinceMs: number,
) {
  const held = await own.marketsOf(wallets);
  return held
    .flatMap((market) => catalog.market(market) ?? [])
    .filter(({ payout0, updatedAtMs }) => payout0 >= 0 && updatedAtMs >= sinceMs);
}
