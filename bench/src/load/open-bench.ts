import { type Child, startChild } from '../child/child.ts';
import type { BareResult } from '../reads-bare-server.ts';
import { openWorld, type World, type WorldOptions } from '../world/world.ts';
import type { GeneratorJob, LoadResult } from './job.ts';
import type { LoadShape } from './plan.ts';
import { type Rate, rateName } from './rates.ts';
import { type Bench, type Condition, runStep } from './run-step.ts';
import { openTables } from './table-work.ts';

export interface BenchCounts {
  readonly markets: number;
  readonly wallets: number;
  readonly fills: number;
}

export interface OpenBench extends Bench {
  readonly world: World;
  shape(rate: Rate, seconds: number): LoadShape;
  end(): Promise<void>;
}

/** Seconds of each step before its measured part. */
export const leadSeconds = 3;
/** Before the first step: processes run several times slower until their paths are compiled. */
export const warmUp = { requestsPerSecond: 100, seconds: 40 };

/**
 * A stack, its generator, and a bare server that repeats its responses, all of them warm. `more` are markets and
 * traders besides those of the load.
 */
export async function openBench(
  { markets, wallets, fills }: BenchCounts,
  rates: readonly Rate[],
  more: { readonly markets: number; readonly traders: number } & WorldOptions & {
      /** Without one, steps against the bare server are not possible; default true. */
      readonly hasBare?: boolean;
    },
): Promise<OpenBench> {
  const world = await openWorld(
    { markets: markets + more.markets, traders: wallets + more.traders },
    more,
  );
  const clickhouse = openTables(world.stack);
  const children: Child<unknown>[] = [];
  const end = async () => {
    for (const child of children) child.stop();
    await clickhouse.close();
    await world.end();
  };
  const shape = (rate: Rate, seconds: number): LoadShape => {
    return { rate, leadSeconds, seconds, wallets, markets, fills };
  };
  try {
    const generator = startGenerator(world, { markets, wallets });
    children.push(generator);
    await generator.ready;
    const cold = { stack: world.stack, clickhouse, generator, bare: null };
    const shapes = [...new Set(rates.map(({ batch }) => batch))].map((batch) =>
      shape({ perSecond: warmUp.requestsPerSecond * batch, batch }, warmUp.seconds),
    );
    const answers = await warm(cold, shapes);
    if (more.hasBare === false) return { ...cold, world, shape, end };
    const bareServer = startChild<void>('reads-bare-server', answers);
    children.push(bareServer);
    const { info: url } = (await bareServer.ready) as { readonly info: string };
    const bench = { ...cold, bare: { url, pid: bareServer.pid } };
    await warm(bench, shapes, 'bare server');
    return { ...bench, world, shape, end };
  } catch (error) {
    await end();
    throw error;
  }
}

function startGenerator(
  { traders, markets }: World,
  counts: Omit<BenchCounts, 'fills'>,
): Child<LoadResult | null> {
  const [first] = traders;
  if (first === undefined) throw new RangeError('a load needs wallets');
  const job: GeneratorJob = {
    domain: first.domain,
    markets: markets.slice(0, counts.markets),
    keys: traders.slice(0, counts.wallets).map(({ key }) => key),
  };
  return startChild<LoadResult | null>('load-sender', job);
}

const routes = {
  single: { method: 'POST', url: '/order' },
  batch: { method: 'POST', url: '/orders' },
  cancel: { method: 'DELETE', url: '/orders' },
} as const;

/** Compiles the paths of each size of request; resolves with a response of each route. */
async function warm(
  bench: Bench,
  shapes: readonly LoadShape[],
  condition: Condition = 'everything',
): Promise<BareResult[]> {
  let samples: Readonly<Record<string, string>> = {};
  for (const shape of shapes) {
    const { outcome } = await runStep(bench, shape, condition);
    console.error(
      `warm-up, ${condition}, ${rateName(shape.rate)}: ${JSON.stringify(outcome.outcomes)}`,
    );
    samples = { ...samples, ...outcome.samples };
  }
  return Object.entries(samples).map(([name, body]) => ({
    ...routes[name as keyof typeof routes],
    contentType: 'application/json',
    base64: Buffer.from(body).toString('base64'),
  }));
}
