import type { RouteDeclaration } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import { parseTime } from '@pm/schemas/time';
import fc from 'fast-check';
import type { Type } from 'typebox';
import { Value } from 'typebox/value';
import { runLength } from '../../../kit/test/long-runs.ts';
import { declaredWorld } from '../declared-world.ts';
import { openListener } from '../in-memory.ts';

/**
 * The declared form of each parameter and what its reader takes are one: each route is sent its example with one
 * parameter changed, and answers 400 exactly when the declaration does not allow the value.
 */
const app = openListener(declaredWorld());

interface Case {
  readonly name: string;
  readonly route: RouteDeclaration;
  readonly parameter: string;
  readonly schema: Type.TSchema;
}

/** Parameters that the declared form alone does not decide: other parameters, the caller or the clock do. */
const dependent: ReadonlySet<string> = new Set([
  ...['at', 'at_offset', 'level'].map((name) => `GET /book ${name}`),
  ...['startTs', 'endTs', 'start_ts', 'end_ts'].map((name) => `GET /prices-history ${name}`),
  'GET /candles start',
  ...['/balance-allowance', '/balance-allowance/update'].flatMap((path) =>
    ['asset_type', 'token_id', 'wallet'].map((name) => `GET ${path} ${name}`),
  ),
  'GET /builder/trades id',
  'GET /trades filterType',
  ...['market', 'eventId'].map((name) => `GET /live-volume ${name}`),
  'GET /builder/volume builder_code',
  'GET /rebates/current date',
]);
/** Their texts mean something to the server only. */
const opaque: ReadonlySet<string> = new Set(['next_cursor', 'after_cursor', 'cursor']);

const cases: readonly Case[] = routes
  .filter(({ service, method }) => service === 'query-api' && method === 'GET')
  .flatMap((route) =>
    Object.entries(route.query?.properties ?? {}).map(([parameter, schema]) => ({
      name: `GET ${route.path} ${parameter}`,
      route,
      parameter,
      schema,
    })),
  )
  .filter(({ name, parameter }) => !dependent.has(name) && !opaque.has(parameter));

const samplesMax = runLength({ test: 5, deep: 25 });

/**
 * Texts that some parameter takes and others do not. Left out: leading zeros, truths in capitals and sides of prices in
 * small letters, which readers take too.
 */
const texts = [
  ...['x', '0', '1', '5', '-1', '1.5', '1e3', '100', '101', '500', '501', '1001', '9'.repeat(20)],
  ...['true', 'yes', 'BUY', 'DESC', 'ALL', '1d', '1h', 'null', ' 5', '5 ', '٣'],
  ...[
    '2026-06-01',
    '2026-06-01T11:00:00Z',
    '2026-13-01',
    'MA==',
    'LTE=',
    'a,b',
    '0x',
    'x'.repeat(201),
  ],
];

test.each(cases)('$name', async ({ route, parameter, schema }) => {
  const values = [
    ...texts,
    ...fc.sample(formOf(schema), { numRuns: samplesMax, seed: 20_261_123 }),
  ];
  const wrong: unknown[] = [];
  for (const value of values) {
    // A day that does not exist has the form of one that does.
    if (value === '' || (isTime(schema) && parseTime(value) === null)) continue;
    const { statusCode } = await app.inject(urlOf(route, parameter, value));
    const isAllowed = Value.Check(schema, isList(schema) ? value.split(',') : value);
    if (isAllowed === (statusCode === 400)) wrong.push([value.slice(0, 90), statusCode]);
  }
  expect(wrong).toEqual([]);
});

function urlOf({ path, examples: [example] }: RouteDeclaration, parameter: string, value: string) {
  const named = path.replace(/:(\w+)/g, (_whole, name: string) => example.params?.[name] ?? '');
  const query = { ...example.query, [parameter]: value } as Record<string, string>;
  return `${named}?${new URLSearchParams(query).toString()}`;
}

const isTime = ({ pattern }: Type.TSchema & { pattern?: string }) => pattern?.startsWith('^\\d{4}');
const isList = (schema: Type.TSchema) => 'type' in schema && schema.type === 'array';

/** Making one takes longer than sending its samples, and few patterns differ. */
const formsOfPatterns = new Map<string, fc.Arbitrary<string>>();

function formOfPattern(pattern: string): fc.Arbitrary<string> {
  const known = formsOfPatterns.get(pattern);
  const form = known ?? fc.stringMatching(new RegExp(pattern), { maxLength: 100 } as object);
  formsOfPatterns.set(pattern, form);
  return form;
}

/** Values that the declaration allows, as text. */
function formOf(schema: Type.TSchema): fc.Arbitrary<string> {
  const {
    items,
    enum: values,
    pattern,
  } = schema as {
    items?: Type.TSchema;
    enum?: readonly string[];
    pattern?: string;
  };
  if (items !== undefined) return formOf(items);
  if (values !== undefined) return fc.constantFrom(...values);
  return pattern === undefined
    ? fc.string({ minLength: 1, maxLength: 20 })
    : formOfPattern(pattern);
}
