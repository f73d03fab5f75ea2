import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import fc from 'fast-check';
import { engineUrl } from '../../../kit/test/engines.ts';
import { type Defects, SimulatedExchange } from './simulated-exchange.ts';
import { History, histories, type Step } from './steps.ts';

/** Steps of a history at most; nearly half of them are requests. */
const stepsMax = 500;

/** Histories of one seed. */
const historiesPerSeed = 10;

/** A busy machine must not look like a Redis that is away, milliseconds. */
const commandTimeoutMs = 60_000;

let opened = 0;

/** A Redis client for the tests of a file. */
export function redisOfTests(): () => RedisClient {
  let redis: RedisClient;
  beforeAll(() => {
    redis = openRedis({ url: engineUrl('REDIS'), log: silentLog, commandTimeoutMs });
  });
  afterAll(async () => {
    await redis?.quit();
  });
  return () => redis;
}

/** Runs `work` with a new exchange of so many processes of ingress. */
export async function withExchange<T>(
  redis: RedisClient,
  { ingresses = 2, defects = {} }: { readonly ingresses?: number; readonly defects?: Defects },
  work: (exchange: SimulatedExchange, history: History) => Promise<T>,
): Promise<T> {
  opened += 1;
  const prefix = `money-${process.pid}-${opened}`;
  const exchange = await SimulatedExchange.open({ redis, prefix, ingresses, defects });
  try {
    return await work(exchange, new History(exchange));
  } finally {
    await exchange.close();
  }
}

interface HistoriesOptions {
  readonly seed: number;
  readonly runs?: number;
  /** Steps of a history at most. */
  readonly steps?: number;
  readonly defects?: Defects;
  /** Whether a failing history is made shorter. */
  readonly isShrunk?: boolean;
}

/**
 * Random histories of one seed. The outcome of fast-check: the seed and the path that lead to the shortest failing
 * history, and that history.
 */
export async function runHistories(
  redis: RedisClient,
  {
    seed,
    runs = historiesPerSeed,
    steps: most = stepsMax,
    defects = {},
    isShrunk = true,
  }: HistoriesOptions,
) {
  let operations = 0;
  const property = fc.asyncProperty(histories(most), async (steps) => {
    const ingresses = 2 + (seed % 2);
    await withExchange(redis, { ingresses, defects }, async (_exchange, history) => {
      await history.run(steps);
      operations += history.requests.count;
    });
  });
  const outcome = await fc.check(property, { seed, numRuns: runs, endOnFailure: !isShrunk });
  return { outcome, operations };
}

/** A failing run as text: its seed, its error, and the shortest history that fails. */
export function failureText(outcome: fc.RunDetails<[Step[]]>): string {
  const { seed, counterexamplePath, numShrinks, counterexample, errorInstance } = outcome;
  const reason =
    errorInstance instanceof Error ? (errorInstance.stack ?? '') : String(errorInstance);
  const lines = (counterexample?.[0] ?? []).map((step) => `  ${JSON.stringify(step)}`);
  const head = `seed ${seed}, path ${counterexamplePath}, shrunk ${numShrinks} times: ${reason}`;
  return [head, ...lines].join('\n');
}
