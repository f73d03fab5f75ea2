import {
  clickhouseFields,
  kafkaFields,
  readConfig,
  redisFields,
  registryFields,
} from '@pm/kit/config';
import { StackError } from '../local/stack-error.ts';
import { stackStatus } from '../stack/control.ts';

const fields = { ...kafkaFields, ...registryFields, ...redisFields, ...clickhouseFields };

/** Where an installation is, and what its topics, tables and keys are named. */
export type Addresses = ReturnType<typeof readAddresses>;

type Environment = Readonly<Record<string, string | undefined>>;

function readAddresses(env: Environment) {
  return readConfig(fields, env, { known: Object.keys(env) });
}

/**
 * The installation that the variables of the services name (`PM_KAFKA_BROKERS`, `PM_REGISTRY_URL`, `PM_CLICKHOUSE_URL`,
 * `PM_REDIS_URL` ...), else the stack that runs on a data folder. Throws a `StackError` when there is neither.
 */
export async function findInstallation(env: Environment, dataDir: string): Promise<Addresses> {
  if ((env['PM_KAFKA_BROKERS'] ?? '') !== '') return readAddresses(env);
  const running = await stackStatus(dataDir);
  if (running === null) {
    const how =
      'start one (npm run stack -- up), name its --data, or set PM_KAFKA_BROKERS and the others';
    throw new StackError('BAD_DESCRIPTION', `no stack runs on ${dataDir}: ${how}`);
  }
  return readAddresses({
    ...env,
    PM_KAFKA_BROKERS: running.urls.kafka,
    PM_REGISTRY_URL: running.urls.registry,
    PM_CLICKHOUSE_URL: running.urls.clickhouse,
    PM_REDIS_URL: running.urls.redis,
  });
}
