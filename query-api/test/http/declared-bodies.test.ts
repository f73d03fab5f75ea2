import type { RouteDeclaration } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import { Value } from 'typebox/value';
import { Dice } from '../../../kit/test/hostile/dice.ts';
import { spoil } from '../../../kit/test/hostile/spoil.ts';
import { declaredWorld } from '../declared-world.ts';
import { openListener, post } from '../in-memory.ts';

/**
 * The declared form of each body and what its reader takes are one: a spoilt example is a 400 exactly when it does not
 * fit.
 */
const app = openListener(declaredWorld());
const dice = new Dice(20_261_123);
const bodiesMax = 400;

/** Names that no body may have, whatever its form; and a token id of as many digits as the largest, beyond it. */
const refusedBefore = /"(__proto__|prototype)"|9{78}/;

const takers: readonly RouteDeclaration[] = routes.filter(
  ({ service, body }) => service === 'query-api' && body !== undefined,
);

test.each(takers)('$method $path', async ({ path, body: schema, examples: [{ body }] }) => {
  const wrong: unknown[] = [];
  for (let sent = 0; sent < bodiesMax; sent += 1) {
    const text = JSON.stringify(spoil(body, dice)) ?? 'null';
    if (refusedBefore.test(text)) continue;
    const { status } = await post(app, path, text);
    const isAllowed = schema !== undefined && Value.Check(schema, JSON.parse(text));
    if (isAllowed === (status === 400)) wrong.push([text.slice(0, 200), status]);
  }
  expect(wrong).toEqual([]);
});
