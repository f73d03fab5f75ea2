import { rateCost, rateGroupOf, rateRules, rateRulesOf, rateScopes } from '../src/rate-limits.ts';
import type { HttpRoute } from '../src/routes/route.ts';
import { routes } from '../src/routes/routes.ts';

const all: readonly HttpRoute[] = routes;

/** In the published interface; served when their rooms are there. */
const announced = new Set(['GET /trades', 'GET /closed-positions']);

/** `limit / seconds` by the scope's name, as the published table has them. */
const published = {
  catalog: ['4000 / 10'],
  events: ['500 / 10'],
  markets: ['300 / 10'],
  listings: ['900 / 10'],
  tags: ['200 / 10'],
  search: ['350 / 10'],
  clob: ['5000 / 10'],
  health: ['50 / 10'],
  book: ['200 / 10'],
  books: ['80 / 10'],
  price: ['200 / 10'],
  prices: ['80 / 10'],
  midpoint: ['200 / 10'],
  'prices-history': ['100 / 10'],
  'batch-prices-history': ['80 / 10'],
  trades: ['150 / 10'],
  orders: ['2400 / 10', '24000 / 600'],
  'cancel-order': ['2400 / 10', '24000 / 600'],
};

test('the published table is the first part of ours, row by row', () => {
  const rows = rateScopes.map(({ name, windows }) => [
    name,
    windows.map(({ limit, seconds }) => `${limit} / ${seconds}`),
  ]);
  expect(rows.slice(0, Object.keys(published).length)).toEqual(Object.entries(published));
});

test.each(all)('$method $path is counted by its group at least', (route) => {
  const groups = rateRulesOf(route).filter(({ scope }) => 'group' in scope.covers);
  expect(groups.map(({ scope }) => scope.covers)).toEqual([{ group: rateGroupOf(route) }]);
});

test.each([
  ['GET', '/book', 'clob', ['book.10', 'clob.10']],
  ['POST', '/account/merge', 'clob', ['account-actions.10', 'account-actions.600', 'clob.10']],
  ['GET', '/events', 'gamma', ['catalog.10', 'events.10', 'listings.10']],
  ['GET', '/trades', 'data', ['data.10', 'trades.10']],
  ['GET', '/data/trades', 'clob', ['clob.10', 'trades.10']],
  ['GET', '/auth/api-keys', 'clob', ['clob.10', 'keys.10']],
  ['POST', '/order', 'clob', ['clob.10', 'orders.10', 'orders.600']],
  [
    'POST',
    '/orders',
    'clob',
    ['clob.10', 'order-batches.10', 'order-batches.600', 'orders.10', 'orders.600'],
  ],
] as const)('%s %s is counted in all its scopes', (method, path, family, fields) => {
  const rules = rateRulesOf({ method, path, family });
  expect(rules.map((rule) => rule.field).sort()).toEqual(fields);
});

test('a day of withdrawals from one address leaves the ledger fewer than 100,000 ids', () => {
  const addressFactor = 4;
  const rules = rateRulesOf({ method: 'POST', path: '/account/withdrawals', family: 'clob' });
  const perDay = Math.min(...rules.map(({ limit, seconds }) => (limit * 86_400) / seconds));
  expect(perDay * addressFactor).toBeLessThan(100_000);
});

test.each([
  ['/auth/api-key', 1],
  ['/auth/readonly-api-key', 4],
  ['/auth/builder-api-key', 4],
  ['/api/v1/agents', 4],
])('a day at one address makes fewer than 200,000 keys by POST %s', (path, addressFactor) => {
  const rules = rateRulesOf({ method: 'POST', path, family: 'clob' });
  const perDay = Math.min(...rules.map(({ limit, seconds }) => (limit * 86_400) / seconds));
  expect(perDay * addressFactor).toBeLessThan(200_000);
});

test('no cancel shares a bucket with anything that is no cancel or heartbeat', () => {
  const reserved = all.filter((route) => rateGroupOf(route) === 'reserve');
  expect(reserved.map(({ method, path }) => `${method} ${path}`)).toContain('DELETE /order');
  const shared = new Set(reserved.flatMap(rateRulesOf));
  const others = all.filter((route) => rateGroupOf(route) !== 'reserve').flatMap(rateRulesOf);
  expect(others.filter((rule) => shared.has(rule))).toEqual([]);
});

test('fields and places are unique, and every listed route is well-formed', () => {
  expect(new Set(rateRules.map((rule) => rule.field)).size).toBe(rateRules.length);
  expect(rateRules.map((rule) => rule.place)).toEqual([...rateRules.keys()]);
  const listed = rateScopes.flatMap(({ covers }) => (Array.isArray(covers) ? covers : []));
  const known = new Set(all.map(({ method, path }) => `${method} ${path}`));
  expect(listed.filter((name) => !known.has(name) && !announced.has(name))).toEqual([]);
  for (const name of listed) expect(name).toMatch(/^(GET|POST|PUT|DELETE) \/[\w/:.-]*$/);
});

test.each([
  ['orders.10', 0, 1],
  ['orders.10', 1, 1],
  ['orders.10', 15, 15],
  ['orders.10', 16, 15],
  ['order-batches.10', 15, 1],
  ['cancel-orders.10', 100, 1],
  ['cancel-orders.10', 3_000, 30],
])('%s counts a body of %i items as %i', (field, items, cost) => {
  const rule = rateRules.find((one) => one.field === field);
  expect(rule === undefined ? null : rateCost(rule, items)).toBe(cost);
});
