import { claimsKey } from '@pm/domain/accounts/key-claim';
import type { RateLimitReads } from '@pm/domain/ratelimit/wire.io';
import { wireProgress } from '@pm/domain/status/progress';
import type { SolvencyFacts } from '@pm/domain/status/solvency';
import type { HttpHandler } from '@pm/kit/http';
import type { CallerDirectory } from '../http/caller.io.ts';
import { unproven } from '../http/caller.io.ts';
import { readRoute, sendAnswer, signedFacts } from '../http/read-route.io.ts';
import { wirePartitions } from './partition-states.ts';
import type { PartitionWatch } from './partition-watch.io.ts';
import type { ProgressWatch } from './progress.io.ts';
import type { StreamWatch } from './stream-watch.io.ts';

export interface StatusParts {
  readonly callers: CallerDirectory;
  readonly rateLimits: RateLimitReads;
  readonly progress: Pick<ProgressWatch, 'progress'>;
  readonly partitions: Pick<PartitionWatch, 'facts'>;
  readonly streams: Pick<StreamWatch, 'instances'>;
  readonly solvency: Pick<SolvencyFacts, 'wire'>;
  nowMs(): number;
}

/**
 * GET /status. At the root: how far each projection is complete, and the partitions (conventions.md 1.5). Under the
 * mounts: the plain text that clients of the family take for health; with quotes it would not be.
 */
export function statusRoute(parts: StatusParts): HttpHandler {
  const { progress, partitions, streams, solvency } = parts;
  const body = async () => ({
    ...wireProgress(progress.progress()),
    partitions: wirePartitions(await partitions.facts()),
    streams: streams.instances(),
    solvency: solvency.wire(),
  });
  return {
    method: 'GET',
    path: '/status',
    add(app, { url, mount }) {
      app.get(url, async (_request, reply) =>
        mount === null
          ? sendAnswer(reply, await body(), 'gamma')
          : reply.type('text/plain; charset=utf-8').send('OK'),
      );
    },
  };
}

/** GET /rate-limits: every bucket of the caller: of the key when one is proven, else of the address (limits.md). */
export function rateLimitsRoute({ callers, rateLimits, nowMs }: StatusParts): HttpHandler {
  const route = { method: 'GET', path: '/rate-limits', family: 'clob' } as const;
  return readRoute(route, async ({ raw }) => {
    const address = raw.server.countedAddress(raw.raw);
    if (!claimsKey(raw.headers)) return await rateLimits.ofAddress(address);
    const reader = callers.verify(signedFacts(raw));
    if (reader === null) return unproven({ callers, nowMs }, raw);
    // A request with a read-only key is counted for its address.
    return await (reader.apiKey === null
      ? rateLimits.ofAddress(address)
      : rateLimits.ofKey(reader.apiKey, address));
  });
}
