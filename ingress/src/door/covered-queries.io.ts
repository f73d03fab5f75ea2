import { type HttpApp, refuse } from '@pm/kit/http';
import { type Authentication, signedFacts } from './authentication.io.ts';

/**
 * Refuses a request whose query names something that its proof does not cover, on every route that changes something:
 * else the holder of a captured request could name another key or order, or none, which may stand for all
 * (conventions.md 2.2). A declaration with `uncoveredQuery` is left out. Call it before the routes are added.
 */
export function refuseUncoveredQueries(
  app: HttpApp,
  { verify }: Pick<Authentication, 'verify'>,
): void {
  app.addHook('onRoute', (route) => {
    const declaration = route.config?.declaration;
    if (declaration === undefined || declaration.method === 'GET') return;
    if (declaration.uncoveredQuery === true) return;
    const names = Object.keys(declaration.query?.properties ?? {});
    if (names.length === 0) return;
    route.preHandler = [
      async (request, reply) => {
        const name = names.find((one) => one in (request.query as object));
        if (name === undefined) return undefined;
        // What proves no API key is judged by the route.
        const holder = verify(signedFacts(request));
        if (holder === null || holder.covers.query) return undefined;
        return refuse(reply, 'argument_not_signed', { name });
      },
      ...[route.preHandler ?? []].flat(),
    ];
  });
}
