import { ordersPerRequestMax } from './http/trading.ts';
import type { HttpRoute, RouteFamily } from './routes/index.ts';

/**
 * The rate limits of the published interface and of conventions.md 8, as data. A request counts in every scope that
 * covers its route and must pass all of them; what is refused counts in none. Windows are fixed and aligned to the clock.
 */
export interface RateWindow {
  /** Units in one window. */
  readonly limit: number;
  /** Length of the window; the first begins at the Unix epoch. */
  readonly seconds: number;
}

/**
 * What one request takes from a scope: 1; one for each item of a body that is a list (so a batch of orders costs as many as
 * its orders sent one by one); or one for each hundred of them.
 */
export type RateUnit = 'requests' | 'items' | 'hundreds of items';

export interface RateScope {
  /** Stable: part of the API (GET /rate-limits) and of keys in Redis. */
  readonly name: string;
  readonly unit: RateUnit;
  /**
   * `METHOD /path` as in the table of routes, all routes of a group, or all that begin with a path. Empty: counted by hand
   * (`failedProofScope`).
   */
  readonly covers: readonly string[] | { readonly group: RateGroup } | { readonly under: string };
  /** Burst first. */
  readonly windows: readonly RateWindow[];
  /** Counted for the address of the client also when the request proves a key or an agent. */
  readonly isByAddress?: boolean;
}

/** Every route is in one group: that of its family, or the reserve. */
export type RateGroup = RouteFamily | 'reserve';

/**
 * Routes that take risk off the book or keep it there on purpose. They share no bucket with anything else, so that nobody
 * runs out of cancels because he read or traded too much.
 */
const reserve: ReadonlySet<string> = new Set([
  'DELETE /order',
  'DELETE /orders',
  'DELETE /cancel-all',
  'DELETE /cancel-market-orders',
  'POST /heartbeats',
  'POST /v1/heartbeats',
]);

const burst = (limit: number): readonly RateWindow[] => [{ limit, seconds: 10 }];
const burstAndSustained = (limit: number, sustained: number): readonly RateWindow[] => [
  { limit, seconds: 10 },
  { limit: sustained, seconds: 600 },
];

function scope(
  name: string,
  covers: RateScope['covers'],
  windows: readonly RateWindow[],
  unit: RateUnit = 'requests',
): RateScope {
  return { name, unit, covers, windows };
}

/** Proofs of keys that failed, per address; while it is used up, requests with credentials are refused before any check. */
export const failedProofScope: RateScope = scope('failed-credentials', [], burst(500));

const eventLists = ['GET /events', 'GET /events/keyset', 'GET /events/pagination'];
const marketLists = ['GET /markets', 'GET /markets/keyset'];

/** In the order of the published table, then what it leaves out (conventions.md 8). */
export const rateScopes: readonly RateScope[] = [
  scope('catalog', { group: 'gamma' }, burst(4_000)),
  scope('events', eventLists, burst(500)),
  scope('markets', marketLists, burst(300)),
  scope('listings', [...eventLists, ...marketLists], burst(900)),
  scope('tags', ['GET /tags'], burst(200)),
  scope('search', ['GET /public-search'], burst(350)),
  scope('clob', { group: 'clob' }, burst(5_000)),
  scope('health', ['GET /'], burst(50)),
  scope('book', ['GET /book'], burst(200)),
  scope('books', ['POST /books'], burst(80)),
  scope('price', ['GET /price'], burst(200)),
  scope('prices', ['GET /prices', 'POST /prices'], burst(80)),
  scope('midpoint', ['GET /midpoint'], burst(200)),
  scope('prices-history', ['GET /prices-history'], burst(100)),
  scope('batch-prices-history', ['POST /batch-prices-history'], burst(80)),
  // One ledger of two names, of which one takes a key and the other none: one budget of a client (docs/decisions.md).
  { ...scope('trades', ['GET /trades', 'GET /data/trades'], burst(150)), isByAddress: true },
  scope('orders', ['POST /order', 'POST /orders'], burstAndSustained(2_400, 24_000), 'items'),
  scope('cancel-order', ['DELETE /order'], burstAndSustained(2_400, 24_000)),

  scope('midpoints', ['GET /midpoints', 'POST /midpoints'], burst(80)),
  scope('spread', ['GET /spread'], burst(200)),
  scope('spreads', ['GET /spreads', 'POST /spreads'], burst(80)),
  scope('last-trade-price', ['GET /last-trade-price'], burst(200)),
  scope('last-trades-prices', ['GET /last-trades-prices', 'POST /last-trades-prices'], burst(80)),
  scope('candles', ['GET /candles'], burst(100)),
  scope('order-batches', ['POST /orders'], burstAndSustained(1_000, 4_000)),
  scope('validate', ['POST /orders/validate'], burst(1_000), 'items'),
  scope('reserve', { group: 'reserve' }, burst(5_000)),
  scope('cancel-orders', ['DELETE /orders'], burstAndSustained(2_400, 24_000), 'hundreds of items'),
  scope('cancel-all', ['DELETE /cancel-all'], burstAndSustained(2_400, 24_000)),
  scope('cancel-market', ['DELETE /cancel-market-orders'], burstAndSustained(2_400, 24_000)),
  scope('heartbeats', ['POST /heartbeats', 'POST /v1/heartbeats'], burst(200)),
  scope('keys', { under: '/auth/' }, burst(100)),
  scope('agents', { under: '/api/v1/agents' }, burst(100)),
  scope('open-orders', ['GET /data/orders', 'POST /data/orders'], burst(500)),
  scope('balance', ['GET /balance-allowance'], burst(200)),
  scope('balance-update', ['GET /balance-allowance/update'], burst(50)),
  scope('notifications', { under: '/notifications' }, burst(125)),
  scope('tick-size', ['GET /tick-size', 'GET /tick-size/:token_id'], burst(200)),
  scope('data', { group: 'data' }, burst(1_000)),
  scope('positions', ['GET /positions'], burst(150)),
  scope('closed-positions', ['GET /closed-positions'], burst(150)),
  scope('comments', { under: '/comments' }, burst(200)),
  failedProofScope,
];

/** One window of one scope: what is counted. `place` is its index in `rateRules`. */
export interface RateRule extends RateWindow {
  readonly place: number;
  readonly scope: RateScope;
  /** The field it is counted under in Redis. */
  readonly field: string;
}

export const rateRules: readonly RateRule[] = rateScopes
  .flatMap((of) => of.windows.map((window) => ({ ...window, scope: of })))
  .map((rule, place) => ({ ...rule, place, field: `${rule.scope.name}.${rule.seconds}` }));

/** What counts proofs that failed. */
export const failedProofRules: readonly RateRule[] = rateRules.filter(
  (rule) => rule.scope === failedProofScope,
);

/** The longest window; nothing about a caller needs to be kept longer. */
export const rateWindowMaxSeconds = Math.max(...rateRules.map((rule) => rule.seconds));

/** Body of GET /rate-limits. */
export interface RateLimitsAnswer {
  /** What the caller is counted by. */
  readonly caller: 'address' | 'key' | 'agent';
  /** False when this installation limits nobody; the list is empty then. */
  readonly enabled: boolean;
  readonly limits: readonly {
    readonly scope: string;
    readonly routes: readonly string[];
    readonly unit: RateUnit;
    readonly window_seconds: number;
    readonly limit: number;
    readonly remaining: number;
    /** Unix seconds. */
    readonly resets_at: number;
  }[];
}

type Counted = Pick<HttpRoute, 'method' | 'path' | 'family'>;

export function rateGroupOf(route: Counted): RateGroup {
  return reserve.has(nameOf(route)) ? 'reserve' : route.family;
}

/** The rules that count requests of a route. */
export function rateRulesOf(route: Counted): readonly RateRule[] {
  const [name, group] = [nameOf(route), rateGroupOf(route)];
  return rateRules.filter(({ scope: { covers } }) => {
    if ('group' in covers) return covers.group === group;
    return 'under' in covers ? route.path.startsWith(covers.under) : covers.includes(name);
  });
}

/** What a scope covers, in words. */
export function coveredRoutes({ covers }: RateScope): readonly string[] {
  if ('group' in covers) return [`all of ${covers.group}`];
  return 'under' in covers ? [`all under ${covers.under}`] : covers;
}

/** What a request with so many items in its body takes from a rule; at least 1. Longer batches are refused, not dearer. */
export function rateCost({ scope: { unit } }: RateRule, items: number): number {
  if (unit === 'requests' || items <= 1) return 1;
  if (unit === 'items') return Math.min(items, ordersPerRequestMax);
  return Math.ceil(items / itemsPerHundred);
}

const itemsPerHundred = 100;

function nameOf({ method, path }: Pick<HttpRoute, 'method' | 'path'>): string {
  return `${method} ${path}`;
}
