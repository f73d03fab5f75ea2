import { type RouteDeclaration, urlsOf } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import { runLength } from '../../../kit/test/long-runs.ts';
import { knownFilters, unservedFiltersOf } from '../../src/http/unserved-filters.ts';
import { declaredWorld } from '../declared-world.ts';
import { get, openListener } from '../in-memory.ts';

/**
 * Known filters on every read: each is declared there, or refused by its name. One check of all reads refuses them, so
 * a read is sent some of those that it does not serve, the next read others; all of them in deep runs. Under mounts it
 * is every tenth one.
 */
const filtersPerRead = runLength({ test: 35, deep: knownFilters.size });
const app = openListener(declaredWorld());

const cases = routes
  .filter(({ service, method }) => service === 'query-api' && method === 'GET')
  .filter(({ path }) => !isDescription(path))
  .flatMap((route) => urlsOf(route).map(({ url, mount }) => ({ url, mount, route })))
  .map((one, at) => ({ ...one, at }));

/** Pages and documents, and the state of the exchange, are no results. */
function isDescription(path: string): boolean {
  const documents = ['/openapi.json', '/asyncapi.json', '/v1/stream', '/status'];
  return documents.includes(path) || /^\/(console|docs)/.test(path);
}

const value = 'x-1';

function urlOf(
  url: string,
  { examples: [example] }: RouteDeclaration,
  more: Record<string, string>,
) {
  const named = url.replace(/:(\w+)/g, (_whole, name: string) => example.params?.[name] ?? '');
  const query = { ...example.query, ...more } as Record<string, string>;
  return `${named}?${new URLSearchParams(query)}`;
}

test.each(cases)(
  'GET $url refuses the filters that it does not serve',
  async ({ url, mount, route, at }) => {
    const unserved = [...unservedFiltersOf(route.path)];
    const declared = Object.keys(route.query?.properties ?? {});
    expect(unserved.filter((name) => declared.includes(name))).toEqual([]);
    const every = mount === null ? Math.ceil(unserved.length / filtersPerRead) : 10;
    const sent = unserved.filter((_name, index) => (index + at) % every === 0);
    const dropped: unknown[] = [];
    for (const name of sent) {
      const { status, body } = await get(app, urlOf(url, route, { [name]: value }));
      const { error } = body as { readonly error?: string };
      const family = mount ?? route.family;
      const expected =
        family === 'data' ? `unknown_field: ${name}` : `${name} is not supported here`;
      if (status !== 400 || error !== expected) dropped.push([name, status, error]);
    }
    expect(dropped).toEqual([]);
  },
);

test.each(cases)('GET $url takes what nobody knows', async ({ url, mount, route }) => {
  if (route.family === 'data' && mount === null) return;
  const plain = await get(app, urlOf(url, route, {}));
  const more = await get(app, urlOf(url, route, { utm_source: value, geo_block_token: value }));
  expect([more.status, more.body]).toEqual([plain.status, plain.body]);
});

test.each([...knownFilters])('the order book form of markets refuses %s', async (name) => {
  for (const url of [
    `/markets?next_cursor=MA==&${name}=${value}`,
    `/clob/markets?${name}=${value}`,
  ]) {
    expect(await get(app, url)).toMatchObject({
      status: 400,
      body: { error: `${name} is not supported here` },
    });
  }
});

test('an empty value of a filter counts as absent', async () => {
  expect((await get(app, '/events?cyom=')).status).toBe(200);
});

test('a market in the order book form is hidden from creators that do not have it', async () => {
  const url = '/clob/markets/0x5f65177b394277fd294cd75650044e32ba009a95022d88a0c1d565897d72f8f1';
  expect((await get(app, url)).status).toBe(200);
  expect(await get(app, `${url}?creator=0x${'9'.repeat(40)}`)).toMatchObject({
    status: 404,
    body: { error: 'market not found' },
  });
});
