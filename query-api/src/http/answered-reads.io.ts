import type { AwaitedPlaces } from '@pm/domain/executions/awaited-places.io';
import { type AnsweredTo, behindHeader, type HttpApp } from '@pm/kit/http';
import type { RouteDeclaration, RouteFamily } from '@pm/schemas/routes/route';
import { onRequestOf } from './on-declared.io.ts';

type Awaited = Pick<AwaitedPlaces, 'isReached' | 'reach'>;

/**
 * Inputs of the wait of a read: the log positions that its client was answered before, and the data that must have
 * reached them.
 */
export interface AnsweredReads {
  readonly of: AnsweredTo;
  readonly books: Awaited;
  /** The newest executions in memory. */
  readonly newest: Awaited;
}

export interface AnsweredParts {
  readonly answered: AnsweredReads;
}

/** How a read waits for what its client was answered. */
export const answeredWait = { waitMs: 250, pollMs: 4 } as const;

/**
 * Lets the routes that declare `X-Behind` wait until they have what their client was answered before, at most
 * `answeredWait.waitMs`; then the response says that it is behind. A request to whose client nothing was answered waits
 * for nothing. Own orders and trades are as of the request instead (`OwnRecords`). Call before adding routes.
 */
export function awaitAnswered(app: HttpApp, { answered }: AnsweredParts): void {
  const { of, books, newest } = answered;
  addWait(app, 'clob', { of, awaited: [books] });
  addWait(app, 'gamma', { of, awaited: [books] });
  addWait(app, 'data', { of, awaited: [newest, books] });
}

function addWait(
  app: HttpApp,
  family: RouteFamily,
  { of, awaited }: { readonly of: AnsweredTo; readonly awaited: readonly Awaited[] },
): void {
  const isMeant = (route: RouteDeclaration) =>
    route.family === family && route.headers?.includes('X-Behind') === true;
  onRequestOf(app, isMeant, (request, reply, done) => {
    const places = of(request.raw);
    if (places === null || awaited.every((one) => one.isReached(places))) {
      done();
      return;
    }
    void Promise.all(awaited.map((one) => one.reach(places))).then((reached) => {
      if (reached.includes(false)) void reply.header(behindHeader, 'true');
      done();
    });
  });
}
