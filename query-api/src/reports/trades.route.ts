import type { DoorRoute } from '@pm/kit/http';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import { marketNumbers } from '../markets/market-filter.ts';
import { activityAnswer, readActivityQuery } from './activity.ts';
import { reportFrame } from './form.io.ts';
import { publicTrade, readLedgerQuery } from './trade-ledger.ts';

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
