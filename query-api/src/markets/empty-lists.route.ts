import type { DoorRoute } from '@pm/kit/http';
import { type ReadRequest, readRoute } from '../door/read-route.io.ts';

/**
 * Lists that clients of the family ask for and this exchange has nothing for: no sports data, no clarifications.
 */
export function emptyListRoutes(): readonly DoorRoute[] {
  const route = (path: string) => ({ method: 'GET', path, family: 'gamma' }) as const;
  const nothing = (_request: ReadRequest): object => [];
  return [
    readRoute(route('/teams'), nothing),
    readRoute(route('/sports'), nothing),
    readRoute(route('/sports/market-types'), () => ({ marketTypes: [] })),
    readRoute(route('/market-clarifications'), nothing),
  ];
}
