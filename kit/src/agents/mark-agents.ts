import type { HttpApp } from '../http/index.ts';
import type { agentCredentials } from './credentials.ts';

/** Marks agents as active where no rate limits ask for their credentials anyway. Call it before the routes are added. */
export function markAgents(app: HttpApp, credentials: ReturnType<typeof agentCredentials>): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers.authorization !== undefined) credentials.prove(request);
    done();
  });
}
