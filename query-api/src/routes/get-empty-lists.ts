import type { DoorRoute } from '@pm/kit/http';
import { type ReadRequest, readRoute } from './route.ts';

/**
 * Lists that clients of the family ask for and this exchange has nothing for: no sports data, no clarifications, and no feed of
 * trades with the names and pictures of who traded (GET /data/trades has a caller's own).
 */
export function emptyListRoutes(): readonly DoorRoute[] {
  const route = (path: string) => ({ method: 'GET', path, family: 'gamma' }) as const;
  const clob = (path: string) => ({ method: 'GET', path, family: 'clob' }) as const;
  const nothing = (_request: ReadRequest): object => [];
  return [
    readRoute(route('/teams'), nothing),
    readRoute(route('/sports'), nothing),
    readRoute(route('/sports/market-types'), () => ({ marketTypes: [] })),
    readRoute(route('/market-clarifications'), nothing),
    readRoute(clob('/markets/live-activity/:condition_id'), nothing),
    readRoute(clob('/live-activity/events/:condition_id'), nothing),
  ];
}
