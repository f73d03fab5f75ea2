import { type DeclaredResponse, responsesOf } from '@pm/schemas/routes/responses';
import type { RouteDeclaration } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import { Value } from 'typebox/value';
import { declaredWorld } from '../declared-world.ts';
import { openListener } from '../in-memory.ts';

const app = openListener(declaredWorld());
const sent = routes
  .filter(({ service }) => service === 'query-api')
  .flatMap((route) =>
    route.examples.map((example) => ({
      name: `${route.method} ${targetOf(route, example)}`,
      route,
      example,
    })),
  );

function targetOf(
  { path }: RouteDeclaration,
  { params = {}, query = {} }: RouteDeclaration['examples'][number],
): string {
  const named = path.replace(/:(\w+)/g, (_whole, name: string) => params[name] ?? '');
  const text = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    ),
  ).toString();
  return text === '' ? named : `${named}?${text}`;
}

test.each(sent)('the example $name is answered as declared', async ({ route, example }) => {
  const answer = await app.inject({
    method: route.method as 'GET' | 'POST',
    url: targetOf(route, example),
    ...(example.body === undefined
      ? {}
      : {
          payload: JSON.stringify(example.body),
          headers: { 'content-type': 'application/json' },
        }),
  });
  expect([answer.statusCode, answer.statusCode < 300 ? '' : answer.body]).toEqual([
    Object.keys(route.responses)
      .map(Number)
      .find((status) => status < 300),
    '',
  ]);
  const declared = responsesOf(route).find(({ status }) => status === answer.statusCode);
  expect(problemsIn(declared, answer)).toEqual([]);
});

function problemsIn(
  declared: DeclaredResponse | undefined,
  { body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, unknown>> },
): readonly unknown[] {
  if (declared?.schema === undefined || !String(headers['content-type']).includes('json'))
    return [];
  return [...Value.Errors(declared.schema, JSON.parse(body) as unknown)];
}
