import { type HttpApp, refuse } from '@pm/kit/http';
import { signedFacts } from './authentication.io.ts';
import { noteRequest, type RepetitionServices } from './replayed-requests.io.ts';

/**
 * Refuses a request whose query names something that its proof does not cover, on every route that changes something:
 * else the holder of a captured request could name another key or order (conventions.md 2.2). A copy without the query
 * is another request, which may stand for all there is: so the proof is spent. The proof of a `harmless` route is not
 * noted: without a query it does nothing. A declaration with `uncoveredQuery` is left out. Call it before the
 * routes are added.
 */
export function refuseUncoveredQueries(app: HttpApp, services: RepetitionServices): void {
  app.addHook('onRoute', (route) => {
    const declaration = route.config?.declaration;
    if (declaration === undefined || declaration.method === 'GET') return;
    if (declaration.uncoveredQuery === true) return;
    const names = Object.keys(declaration.query?.properties ?? {});
    if (names.length === 0) return;
    const { repetition } = declaration;
    route.preHandler = [
      async (request, reply) => {
        const name = names.find((one) => one in (request.query as object));
        if (name === undefined) return undefined;
        // A request that proves no API key is judged by the route.
        const holder = services.authentication.verify(signedFacts(request));
        if (holder === null || holder.covers.query) return undefined;
        if (repetition !== undefined && repetition !== 'harmless')
          await noteRequest(request, { repetition, isSpent: true }, services);
        return refuse(reply, 'argument_not_signed', { name });
      },
      ...[route.preHandler ?? []].flat(),
    ];
  });
}
