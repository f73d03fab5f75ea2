import type { RedisClient } from '@pm/kit/redis';
import { ordersPerRequestMax } from '@pm/schemas/http/trading';
import { Poster } from '../latency/poster.ts';
import { connectionCounts, runLoop, signRequests } from '../orders/batches.ts';
import type { World } from '../world/world.ts';
import { type BySync, openBySync, setSync, syncsOf } from './sync.ts';

/** Orders placed a second over HTTP, with the whole pipeline. */
export interface LoopRates {
  readonly connections: number;
  readonly perRequest: number;
  readonly rates: BySync;
  /** Requests that did not place all of their orders. */
  failed: number;
}

/** Closed loops straight at ingress under both settings in turn, after a round that is not counted. */
export async function measureLoops(
  world: World,
  redis: RedisClient,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<readonly LoopRates[]> {
  const poster = new Poster(`http://127.0.0.1:${world.stack.ports.ingress}`);
  const all = connectionCounts.flatMap((connections) =>
    [1, ordersPerRequestMax].map((perRequest): LoopRates => {
      return { connections, perRequest, rates: openBySync(), failed: 0 };
    }),
  );
  try {
    for (let round = -1; round < rounds; round += 1) {
      for (const one of all) {
        for (const sync of syncsOf(round)) {
          await setSync(redis, sync);
          const requests = signRequests(world, one.perRequest, seconds);
          const { ordersPerSecond, failed } = await runLoop(poster, requests, { ...one, seconds });
          if (round < 0) continue;
          one.rates[sync].push(ordersPerSecond);
          one.failed += Object.values(failed).reduce((sum, count) => sum + count, 0);
        }
      }
    }
    return all;
  } finally {
    poster.close();
  }
}
