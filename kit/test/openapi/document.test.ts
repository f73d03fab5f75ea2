import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { urlsOf } from '@pm/schemas/routes/route';
import { operatorRoutes, publicRoutes, routes } from '@pm/schemas/routes/routes';
import { validate } from '@readme/openapi-parser';
import { requestHeaders } from '../../src/openapi/headers.ts';
import { openApiDocument, operatorApiDocument } from '../../src/openapi/index.ts';

const root = join(__dirname, '../../..');
const both = [
  ['docs/openapi.json', openApiDocument],
  ['docs/operator-openapi.json', operatorApiDocument],
] as const;

interface Operation {
  readonly operationId: string;
  readonly servers?: readonly { readonly url: string }[];
}

const operationsOf = (document: {
  readonly paths: object;
}): readonly (readonly [string, Operation])[] =>
  Object.entries(document.paths).flatMap(([path, methods]: [string, Record<string, Operation>]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
    ),
  );

test.each(both)('%s is a valid OpenAPI 3.1 document', async (_file, document) => {
  const copy = structuredClone(JSON.parse(JSON.stringify(document())));
  expect(await validate(copy)).toMatchObject({ valid: true, warnings: [] });
});

test.each(both)(
  'the patterns of %s mean the same to readers without Unicode classes',
  (_file, document) => {
    const texts = JSON.stringify(document()).match(/"pattern":"(?:[^"\\]|\\.)*"/g) ?? [];
    expect(texts.length).toBeGreaterThan(5);
    expect(texts.filter((text) => /\\\\[pP]\{/.test(text))).toEqual([]);
  },
);

test('the time to book is declared as it is read', () => {
  const { pattern } = requestHeaders.TimeToBook.schema;
  const taken = ['1', '2000', '0', '007', '1'.repeat(10)].filter((text) =>
    new RegExp(pattern).test(text),
  );
  expect(taken).toEqual(['1', '2000']);
});

test.each(both)('%s in the repository says what the declarations say', (file, document) => {
  const written: unknown = JSON.parse(readFileSync(join(root, file), 'utf8'));
  expect(written).toEqual(JSON.parse(JSON.stringify(document())));
});

test('it has every public route once, under every prefix it is served at', () => {
  const operations = new Map(operationsOf(openApiDocument()));
  expect([...operations.values()].map(({ operationId }) => operationId).sort()).toEqual(
    Object.keys(publicRoutes).sort(),
  );
  const described = [...operations].flatMap(([name, { servers = [{ url: '/' }] }]) => {
    const [method = '', path = ''] = name.split(' ');
    return servers.map(({ url }) => `${method} ${`${url}${path}`.replace('//', '/')}`);
  });
  const served = routes.flatMap((route) =>
    urlsOf(route).map(({ url }) => `${route.method} ${url.replace(/:(\w+)/g, '{$1}')}`),
  );
  // A family's prefix alone is its root too.
  const wanted = served.filter((name) => !/^GET \/(clob|data-api)$/.test(name));
  expect(described.sort()).toEqual(wanted.sort());
});

test('the operator’s document has every route of the operator once', () => {
  const names = operationsOf(operatorApiDocument()).map(([, { operationId }]) => operationId);
  expect(names.sort()).toEqual(Object.keys(operatorRoutes).sort());
});

test('the version is that of the packages', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(openApiDocument().info.version).toBe(version);
});
