import type { Progress } from '@pm/deploy/local/managed-process';
import { openWorld, smokePlan, type World } from '../smoke/world.ts';

/** More than the orders of an hour cost. */
const depositUsdc = '1000000';

/** A stack with three brokers, and one market of each partition, of which there is an even number. */
export async function faultWorld(progress: Progress, partitions?: number): Promise<World> {
  const engines = { mode: { kind: 'local' }, accounts: {}, brokers: 3 } as const;
  const world = await openWorld(progress, smokePlan({ depositUsdc, partitions }), engines);
  const byPartition = new Map(world.markets.map((market) => [market.partition, market]));
  return { ...world, markets: [...byPartition.values()] };
}
