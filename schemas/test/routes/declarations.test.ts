import { exampleOf } from '@pm/schemas/http/example-of';
import { rateScopes } from '@pm/schemas/rate-limits';
import type { Declaration } from '@pm/schemas/routes/route';
import { operatorRoutes, publicRoutes } from '@pm/schemas/routes/routes';
import fc from 'fast-check';
import type { Type } from 'typebox';
import { Value } from 'typebox/value';
import { operatorResponsesOf, responsesOf } from '../../src/routes/responses.ts';
import type { OperatorRouteDeclaration, RouteDeclaration } from '../../src/routes/route.ts';
import { wholeNumberPattern } from '../../src/routes/whole-number.ts';

const listed: readonly (readonly [string, RouteDeclaration])[] = Object.entries(publicRoutes);
const operators: readonly (readonly [string, OperatorRouteDeclaration])[] =
  Object.entries(operatorRoutes);
const all: readonly (readonly [string, Declaration & { readonly path: string }])[] = [
  ...listed,
  ...operators,
];

/** A query as the schema sees it: the texts of a list between commas, one by one. */
function queryOf(schema: Type.TObject, given: object): object {
  const entries = Object.entries(given).map(([name, value]: [string, unknown]) => {
    const form = schema.properties[name];
    const isList = form !== undefined && 'type' in form && form.type === 'array';
    return [name, isList && typeof value === 'string' ? value.split(',') : value];
  });
  return Object.fromEntries(entries);
}

const problems = (schema: Type.TSchema | undefined, value: unknown) =>
  schema === undefined
    ? value === undefined
      ? []
      : ['nothing is taken']
    : Value.Errors(schema, value);

describe.each(all)('%s', (_name, route) => {
  test('names each parameter of its path, and no other', () => {
    const named = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    expect(Object.keys(route.params?.properties ?? {})).toEqual(named);
  });

  test('has examples that fit', () => {
    for (const { params, query, body } of route.examples) {
      expect(problems(route.params, params)).toEqual([]);
      if (query !== undefined) {
        const { query: schema } = route;
        expect(schema === undefined ? ['none'] : problems(schema, queryOf(schema, query))).toEqual(
          [],
        );
      }
      if (body !== undefined) expect(problems(route.body, body)).toEqual([]);
      else expect(route.body === undefined || route.bodyIsOptional === true).toBe(true);
    }
  });

  test('shows a good response that fits', () => {
    const { 200: found = route.responses[207] } = route.responses;
    expect(found).toBeDefined();
    if (found?.schema === undefined) return;
    for (const { response } of route.examples) {
      expect(problems(found.schema, response ?? exampleOf(found.schema))).toEqual([]);
    }
    if (found.mounted !== undefined) {
      expect(problems(found.mounted, exampleOf(found.mounted))).toEqual([]);
    }
  });
});

test.each(listed)('%s has a schema of every error it can have', (_name, route) => {
  const responses = responsesOf(route);
  const open = responses.filter(({ schema, text }) => schema === undefined && text === undefined);
  expect(open).toEqual([]);
  expect(responses.map(({ status }) => status)).toEqual(
    expect.arrayContaining(
      [200, 429, 500, 503].filter((status) => status !== 200 || 200 in route.responses),
    ),
  );
});

test.each(all)('%s has the errors of targets and headers that are too long', (name, route) => {
  const responses = route.path.startsWith('/operator/')
    ? operatorResponsesOf(route as OperatorRouteDeclaration)
    : responsesOf(route as RouteDeclaration);
  const statuses = responses.map(({ status }) => status);
  expect([name, statuses]).toEqual([name, expect.arrayContaining([431])]);
  if (route.params !== undefined) expect(statuses).toEqual(expect.arrayContaining([400, 414]));
});

test('every route that an API key opens and that changes something says what a repetition does', () => {
  const writes = listed.filter(
    ([, { service, method, auth }]) =>
      service === 'ingress' && method !== 'GET' && auth.some((one) => one === 'l2'),
  );
  expect(writes.length).toBeGreaterThan(20);
  expect(writes.filter(([, { repetition }]) => repetition === undefined)).toEqual([]);
  const others = listed.filter(([, route]) => !writes.some(([, write]) => write === route));
  expect(others.filter(([, { repetition }]) => repetition !== undefined)).toEqual([]);
});

test('every route that moves money is known by its id', () => {
  const moving = listed.filter(([, { path }]) => path.startsWith('/account/'));
  expect(
    moving.map(([, { repetition, takesIdempotencyKey }]) => [repetition, takesIdempotencyKey]),
  ).toEqual(moving.map(() => ['harmless', true]));
});

const condition = `0x${'5f'.repeat(32)}`;

test.each([
  ['splitPosition', { condition_id: condition, amount: '0.5', id: 'a' }, true],
  ['splitPosition', { conditionId: condition, amount: '10000000', id: 'a' }, true],
  ['mergePositions', { condition_id: condition, amount: '1.500000' }, true],
  ['splitPosition', { condition_id: condition, id: 'a' }, false],
  ['mergePositions', { amount: '1', id: 'a' }, false],
  ['splitPosition', { condition_id: condition, amount: '0.005' }, false],
  ['splitPosition', { condition_id: condition, amount: '01' }, false],
  ['splitPosition', { condition_id: '0x5f', amount: '1' }, false],
  ['redeemPositions', { conditionId: condition, id: 'all' }, true],
  ['redeemPositions', { id: 'all' }, false],
  ['withdraw', { amount: '25.000001' }, true],
  ['withdraw', { amount: '00' }, false],
  ['cancelOrder', { orderID: condition }, true],
  ['cancelOrder', { orderId: 'x' }, false],
  ['cancelMarketOrders', { market: condition, asset_id: '' }, true],
  ['cancelMarketOrders', { market: 'x' }, false],
  ['cancelMarketOrders', { assetId: `${condition}:2` }, false],
  ['setProfile', { name: 'x'.repeat(40), xUsername: `@${'x'.repeat(15)}` }, true],
  ['setProfile', { name: 'x'.repeat(41) }, false],
  ['setProfile', { bio: 'x'.repeat(501) }, false],
  ['createAgent', { name: 'né 1' }, true],
  ['createAgent', { name: 'a\u009f' }, false],
  ['createAgent', { name: 'a\ud800' }, false],
] as const)('%s declares its body as it is read: %j', (name, body, isAllowed) => {
  const declared: Readonly<Record<string, Declaration>> = publicRoutes;
  const schema = declared[name]?.body;
  expect(schema === undefined ? undefined : Value.Check(schema, body)).toBe(isAllowed);
});

test.each(operators)('%s has a schema of every error of the operator', (_name, route) => {
  const statuses = operatorResponsesOf(route).map(({ status }) => status);
  expect(statuses).toEqual(expect.arrayContaining([200, 400, 401, 429, 500]));
});

test('every scope that a route names exists, and every scope of names has a route', () => {
  const known = new Set(rateScopes.map(({ name }) => name));
  const named = listed.flatMap(([, { limits = [] }]) => limits);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  const empty = rateScopes.filter(({ covers }) => Array.isArray(covers) && covers.length === 0);
  expect(empty.map(({ name }) => name)).toEqual([
    'failed-credentials',
    'failed-credentials-address',
    'unfunded-requests',
  ]);
});

test('a pattern of whole numbers takes exactly those of its range', () => {
  const number = fc.nat({ max: 20_000 });
  fc.assert(
    fc.property(number, number, fc.nat({ max: 30_000 }), (one, other, asked) => {
      const [min, max] = [Math.min(one, other), Math.max(one, other)];
      const pattern = new RegExp(wholeNumberPattern(min, max));
      expect(pattern.test(String(asked))).toBe(asked >= min && asked <= max);
      expect([min, max].every((edge) => pattern.test(String(edge)))).toBe(true);
      expect(['', '-1', `0${max}`, `${max} `, 'x'].some((text) => pattern.test(text))).toBe(false);
    }),
    { numRuns: 500 },
  );
  expect(new RegExp(wholeNumberPattern(0, 4_200_000_000)).test('4200000001')).toBe(false);
});
