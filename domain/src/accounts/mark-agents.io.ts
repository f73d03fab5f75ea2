import type { HttpApp } from '@pm/kit/http';
import type { agentCredentials } from './agent-credentials.ts';

/** Marks agents as active where no rate limits ask for their credentials anyway. Call it before the routes are added. */
export function markAgents(app: HttpApp, credentials: ReturnType<typeof agentCredentials>): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers.authorization !== undefined) credentials.prove(request);
    done();
  });
}
