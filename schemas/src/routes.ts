/**
 * Every public route, the door that owns it, and the family of conventions it follows. The gateway and the proxy
 * configuration are made from this table; a door refuses to start when its routes and this table differ.
 */
export type Door = 'ingress' | 'query-api';

/** Families differ in error bodies; each family is also mounted under its prefix (docs/conventions.md, Dialects). */
export type RouteFamily = 'clob' | 'gamma' | 'data';

export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path with `:name` for parameters. */
  readonly path: string;
  readonly door: Door;
  readonly family: RouteFamily;
}

/** Where a family is mounted besides the root. */
export const familyMounts: Readonly<Record<RouteFamily, string>> = {
  clob: '/clob',
  gamma: '/gamma',
  data: '/data-api',
};

const clob = 'clob';
const gamma = 'gamma';
const data = 'data';
const ingress = 'ingress';
const query = 'query-api';

export const routes = [
  { method: 'GET', path: '/', door: ingress, family: clob },
  { method: 'GET', path: '/ok', door: ingress, family: clob },
  { method: 'GET', path: '/time', door: ingress, family: clob },
  { method: 'GET', path: '/version', door: ingress, family: clob },
  { method: 'POST', path: '/auth/api-key', door: ingress, family: clob },
  { method: 'GET', path: '/auth/derive-api-key', door: ingress, family: clob },
  { method: 'POST', path: '/order', door: ingress, family: clob },
  { method: 'POST', path: '/orders', door: ingress, family: clob },
  { method: 'DELETE', path: '/order', door: ingress, family: clob },
  { method: 'DELETE', path: '/cancel-market-orders', door: ingress, family: clob },
  { method: 'GET', path: '/book', door: query, family: clob },
  { method: 'POST', path: '/books', door: query, family: clob },
  { method: 'GET', path: '/price', door: query, family: clob },
  { method: 'POST', path: '/prices', door: query, family: clob },
  { method: 'GET', path: '/midpoint', door: query, family: clob },
  { method: 'GET', path: '/spread', door: query, family: clob },
  { method: 'GET', path: '/last-trade-price', door: query, family: clob },
  { method: 'POST', path: '/last-trades-prices', door: query, family: clob },
  { method: 'GET', path: '/prices-history', door: query, family: clob },
  { method: 'POST', path: '/batch-prices-history', door: query, family: clob },
  { method: 'GET', path: '/tick-size', door: query, family: clob },
  { method: 'GET', path: '/tick-size/:token_id', door: query, family: clob },
  { method: 'GET', path: '/neg-risk', door: query, family: clob },
  { method: 'GET', path: '/neg-risk/:token_id', door: query, family: clob },
  { method: 'GET', path: '/fee-rate', door: query, family: clob },
  { method: 'GET', path: '/fee-rate/:token_id', door: query, family: clob },
  { method: 'GET', path: '/data/order/:id', door: query, family: clob },
  { method: 'GET', path: '/data/trades', door: query, family: clob },
  { method: 'GET', path: '/sampling-markets', door: query, family: clob },
  { method: 'GET', path: '/positions', door: query, family: data },
  { method: 'GET', path: '/holders', door: query, family: data },
  { method: 'GET', path: '/events', door: query, family: gamma },
  { method: 'GET', path: '/events/:id', door: query, family: gamma },
  { method: 'GET', path: '/markets/slug/:slug', door: query, family: gamma },
] as const satisfies readonly HttpRoute[];
