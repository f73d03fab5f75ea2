import type { KeyReadings } from '@pm/domain/accounts/key-readings.io';
import type { HttpApp } from '@pm/kit/http';

/** Names the processes that may still admit the key, by commas; `unknown` when that cannot be found out. */
const pendingHeader = 'X-Revocation-Pending';

/**
 * Lets the answer to a revocation, of a route that declares the header, wait until every process that checks keys has
 * read it (conventions.md 2.6). Call it before the routes are added.
 */
export function awaitRevocations(app: HttpApp, readings: Pick<KeyReadings, 'behind'>): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.declaration?.headers?.includes(pendingHeader) !== true) return;
    route.onSend = async (_request, reply, payload) => {
      if (reply.statusCode !== 200) return payload;
      const behind = await readings.behind();
      const names = behind === null ? 'unknown' : behind.join();
      if (names !== '') void reply.header(pendingHeader, names);
      return payload;
    };
  });
}
