import type { DoorRoute } from '@pm/kit/http';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import { holderGroups, readHoldersQuery } from './holders.ts';

/** GET /holders: the largest balances of each token of the markets asked for (conventions.md 6.2). */
export function holdersRoute({
  catalog,
  tables,
  social,
}: Pick<ReadPorts, 'catalog' | 'tables' | 'social'>): DoorRoute {
  const route = { method: 'GET', path: '/holders', family: 'data' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const isFamily = dialect === 'family';
    const asked = readHoldersQuery(query, !isFamily);
    if (asked instanceof ReadRefusal) return asked;
    const markets = asked.conditions.flatMap((condition) => catalog.byCondition(condition) ?? []);
    if (asked.limit === 0 || markets.length === 0) return [];
    const rows = await tables.holders(markets, asked);
    return holderGroups(markets, rows, {
      form: isFamily ? 'numeric' : 'indexed',
      profiles: social.profiles,
    });
  });
}
