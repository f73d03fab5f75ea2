import type { DoorRoute } from '@pm/kit/http';
import { marketNumbers } from '../core/market-filter.ts';
import { ReadRefusal } from '../core/refusal.ts';
import { activityAnswer, readActivityQuery } from '../core/reports/activity.ts';
import { publicTrade, readLedgerQuery } from '../core/reports/trade-ledger.ts';
import { reportFrame } from './form.ts';
import type { ReadPorts } from './ports.ts';
import { readRoute } from './route.ts';

/** GET /trades and GET /activity: the public ledger, and what one wallet did (conventions.md 1.9). */
export function ledgerRoutes(
  ports: Pick<ReadPorts, 'catalog' | 'social' | 'reports'>,
): readonly DoorRoute[] {
  const { catalog, reports } = ports;
  const trades = { method: 'GET', path: '/trades', family: 'data' } as const;
  const activity = { method: 'GET', path: '/activity', family: 'data' } as const;
  return [
    readRoute(trades, async ({ query, dialect }) => {
      const asked = readLedgerQuery(query, dialect !== 'family');
      if (asked instanceof ReadRefusal) return asked;
      const markets = marketNumbers(catalog, asked);
      if (asked.limit === 0 || markets?.length === 0) return [];
      const rows = await reports.ledger({ ...asked, markets });
      const frame = reportFrame(ports, dialect);
      return rows.flatMap((row) => publicTrade(row, frame));
    }),
    readRoute(activity, async ({ query, dialect }) => {
      const asked = readActivityQuery(query, dialect !== 'family');
      if (asked instanceof ReadRefusal) return asked;
      const markets = marketNumbers(catalog, asked);
      if (asked.limit === 0 || markets?.length === 0) return [];
      const rows = await reports.activity({ ...asked, markets });
      const frame = reportFrame(ports, dialect);
      return rows.flatMap((row) => activityAnswer(row, asked.user, frame));
    }),
  ];
}
