import type { OperatorRouteDeclaration } from '@pm/schemas/routes/route';
import { operatorRoutes } from '@pm/schemas/routes/routes';
import { openOperator } from './operator-fixture.ts';

/** The fixture holds the forms of bodies and parameters against their declarations (`checkResponses`). */
test('the operator’s listener has every route that is declared', async () => {
  const { app } = await openOperator();
  const all: readonly OperatorRouteDeclaration[] = Object.values(operatorRoutes);
  const missing = all.filter(({ method, path: url }) => !app.hasRoute({ method, url }));
  expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
});
