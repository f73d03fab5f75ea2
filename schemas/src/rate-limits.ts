import { ordersPerRequestMax } from './http/trading.ts';
import type { HttpRoute, RouteFamily } from './routes/route.ts';
import { routes } from './routes/routes.ts';

/**
 * The rate limits of the published interface and of conventions.md 1.7, as data. A request counts in every scope that
 * covers its route and must pass all of them; what is refused counts in none. Windows are fixed and aligned to the
 * clock.
 */
export interface RateWindow {
  /** Units in one window. */
  readonly limit: number;
  /** Length of the window; the first begins at the Unix epoch. */
  readonly seconds: number;
}

/**
 * Units that one request takes from a scope: 1; one for each item of a body that is a list (so a batch of orders costs
 * as many as its orders sent one by one); or one for each hundred of them.
 */
export type RateUnit = 'requests' | 'items' | 'hundreds of items';

export interface RateScope {
  /** Stable: part of the API (GET /rate-limits) and of keys in Redis. */
  readonly name: string;
  readonly unit: RateUnit;
  /**
   * `METHOD /path` of the routes whose declarations name the scope (`limits`), all routes of a group, or all that begin
   * with a path. Empty: counts proofs that fail.
   */
  readonly covers: readonly string[] | { readonly group: RateGroup } | { readonly under: string };
  /** Burst first. */
  readonly windows: readonly RateWindow[];
  /**
   * Counted for another caller than the one that the request proves: for the address of the client, for one claimed
   * key at one address, or for the wallet of the key.
   */
  readonly countedFor?: 'address' | 'claim' | 'wallet';
  /**
   * Also counted for all wallets without money at an address together, which get a part of the limit: their requests
   * make work and can change nothing.
   */
  readonly hasUnfundedPart?: true;
}

/** Every route is in one group: that of its family, or the reserve. */
export type RateGroup = RouteFamily | 'reserve';

/** Names of the routes whose declaration names a scope, in the order of the table. */
const named = (scope: string): readonly string[] =>
  routes.filter(({ limits = [] }) => limits.includes(scope)).map(nameOf);

/**
 * Routes that take risk off the book or keep it there on purpose. They share no bucket with anything else, so that no
 * client runs out of cancels because it read or traded too much.
 */
const reserve: ReadonlySet<string> = new Set(named('reserve'));

const burst = (limit: number): readonly RateWindow[] => [{ limit, seconds: 10 }];
const burstAndSustained = (limit: number, sustained: number): readonly RateWindow[] => [
  { limit, seconds: 10 },
  { limit: sustained, seconds: 600 },
];

/** A scope of the routes that name it, unless it covers a group or a path. */
function scope(
  name: string,
  windows: readonly RateWindow[],
  options: Partial<Pick<RateScope, 'covers' | 'unit' | 'countedFor' | 'hasUnfundedPart'>> = {},
): RateScope {
  return { name, unit: 'requests', covers: named(name), windows, ...options };
}

/** A scope of requests that place, try or cancel orders, or move what a wallet holds. */
function tradingScope(
  name: string,
  windows: readonly RateWindow[],
  options: Pick<RateScope, 'unit'> = { unit: 'requests' },
): RateScope {
  return scope(name, windows, { ...options, hasUnfundedPart: true });
}

/**
 * Proofs that failed, per claimed key and address; while it is used up, requests that claim the key from the address
 * are refused before any check, except those of the reserve.
 */
const failedProofScope = scope('failed-credentials', burst(100), {
  covers: [],
  countedFor: 'claim',
});

/** All of an address; while it is used up, proofs that fail are refused as too many, and good ones pass. */
const failedAddressScope = scope('failed-credentials-address', burst(5_000), {
  covers: [],
  countedFor: 'address',
});

/**
 * Requests that reserved no money and that the matcher refused without having found tokens: they are on the log and
 * cost their sender nothing. Counted for the wallet and the address, by their results; while it is used up, what
 * reserves no money is refused before it reaches the log.
 */
const unfundedScope: RateScope = {
  name: 'unfunded-requests',
  unit: 'requests',
  windows: [
    { limit: 50, seconds: 10 },
    { limit: 500, seconds: 600 },
  ],
  covers: [],
  countedFor: 'wallet',
};

/** In the order of the published table, then what it leaves out (conventions.md 1.7). */
export const rateScopes: readonly RateScope[] = [
  scope('catalog', burst(4_000), { covers: { group: 'gamma' } }),
  scope('events', burst(500)),
  scope('markets', burst(300)),
  scope('listings', burst(900)),
  scope('tags', burst(200)),
  scope('search', burst(350)),
  scope('clob', burst(5_000), { covers: { group: 'clob' } }),
  scope('health', burst(50)),
  scope('book', burst(200)),
  scope('books', burst(80)),
  scope('price', burst(200)),
  scope('prices', burst(80)),
  scope('midpoint', burst(200)),
  scope('prices-history', burst(100)),
  scope('batch-prices-history', burst(80)),
  // One ledger under two names, of which one takes a key and the other none: one budget of a client (decisions.md).
  scope('trades', burst(150), { countedFor: 'address' }),
  tradingScope('orders', burstAndSustained(2_400, 24_000), { unit: 'items' }),
  tradingScope('cancel-order', burstAndSustained(2_400, 24_000)),

  scope('midpoints', burst(80)),
  scope('spread', burst(200)),
  scope('spreads', burst(80)),
  scope('last-trade-price', burst(200)),
  scope('last-trades-prices', burst(80)),
  scope('candles', burst(100)),
  tradingScope('order-batches', burstAndSustained(1_000, 4_000)),
  tradingScope('validate', burst(1_000), { unit: 'items' }),
  scope('reserve', burst(5_000), { covers: { group: 'reserve' } }),
  tradingScope('cancel-orders', burstAndSustained(2_400, 24_000), { unit: 'hundreds of items' }),
  tradingScope('cancel-all', burstAndSustained(2_400, 24_000)),
  tradingScope('cancel-market', burstAndSustained(2_400, 24_000)),
  scope('heartbeats', burst(200)),
  scope('keys', burst(100), { covers: { under: '/auth/' } }),
  // Keys cost nothing, and every service keeps each of them in memory for ever, revoked ones too.
  scope('new-keys', burstAndSustained(100, 300)),
  scope('agents', burst(100), { covers: { under: '/api/v1/agents' } }),
  tradingScope('account-actions', burstAndSustained(600, 6_000)),
  // The ledger keeps the id of each withdrawal for ever, and the smallest one is a millionth of a USDC.
  tradingScope('withdrawals', burstAndSustained(20, 120)),
  scope('open-orders', burst(500)),
  scope('balance', burst(200)),
  scope('balance-update', burst(50)),
  scope('notifications', burst(125), { covers: { under: '/notifications' } }),
  scope('tick-size', burst(200)),
  scope('data', burst(1_000), { covers: { group: 'data' } }),
  scope('positions', burst(150)),
  scope('closed-positions', burst(150)),
  scope('comments', burst(200), { covers: { under: '/comments' } }),
  scope('description', burst(50)),
  failedProofScope,
  failedAddressScope,
  unfundedScope,
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

/** Rules that count failed proofs, of a claim and of an address. */
export const failedProofRules: readonly RateRule[] = rulesOf(failedProofScope);
export const failedAddressRules: readonly RateRule[] = rulesOf(failedAddressScope);

/** Rules that count requests that cost their sender nothing and the log a record. */
export const unfundedRules: readonly RateRule[] = rulesOf(unfundedScope);

function rulesOf(wanted: RateScope): readonly RateRule[] {
  return rateRules.filter(({ scope: of }) => of === wanted);
}

/** The longest window; nothing about a caller needs to be kept longer. */
export const rateWindowMaxSeconds = Math.max(...rateRules.map((rule) => rule.seconds));

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

/** Description of the routes that a scope covers. */
export function coveredRoutes({ covers }: RateScope): readonly string[] {
  if ('group' in covers) return [`all of ${covers.group}`];
  return 'under' in covers ? [`all under ${covers.under}`] : covers;
}

/**
 * Units that a request with this number of items in its body takes from a rule; at least 1. Longer batches are refused,
 * they do not cost more.
 */
export function rateCost({ scope: { unit } }: RateRule, items: number): number {
  if (unit === 'requests' || items <= 1) return 1;
  if (unit === 'items') return Math.min(items, ordersPerRequestMax);
  return Math.ceil(items / itemsPerHundred);
}

const itemsPerHundred = 100;

function nameOf({ method, path }: Pick<HttpRoute, 'method' | 'path'>): string {
  return `${method} ${path}`;
}
