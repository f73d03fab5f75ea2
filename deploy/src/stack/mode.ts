import { resolve } from 'node:path';
import {
  clickhouseFields,
  type Field,
  kafkaFields,
  redisCacheFields,
  redisFields,
  registryFields,
  storeFields,
} from '@pm/kit/config';
import type { EngineAccess, EngineUrls } from '../local/engines.ts';
import { StackError } from '../local/stack-error.ts';

/** Engines: started here, as processes or in containers, or of another installation, by their URLs. */
export type EngineMode =
  | { readonly kind: 'local' }
  | { readonly kind: 'containers' }
  | { readonly kind: 'external'; readonly urls: EngineUrls; readonly access: EngineAccess };

/** Values of `STACK`. */
export const modes = ['local', 'containers', 'external'] as const;

const urlVariables = {
  kafka: 'PM_KAFKA_BROKERS',
  registry: 'PM_REGISTRY_URL',
  clickhouse: 'PM_CLICKHOUSE_URL',
  redis: 'PM_REDIS_URL',
} as const;

/** Names of this stack's topics, keys and tables are its own. */
const ownNames: readonly string[] = [
  kafkaFields.topicPrefix.name,
  redisFields.redisPrefix.name,
  clickhouseFields.clickhouseDatabase.name,
];

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `STACK`; throws a `StackError` with the known values for any other one, or with the missing URLs. */
export function engineMode(env: Environment): EngineMode {
  const kind = env['STACK'] ?? 'local';
  if (kind === 'local' || kind === 'containers') return { kind };
  if (kind === 'external') return { kind, urls: externalUrls(env), access: externalAccess(env) };
  throw new StackError('BAD_DESCRIPTION', `STACK=${kind} is not one of: ${modes.join(', ')}`);
}

function externalUrls(env: Environment): EngineUrls {
  const missing = Object.values(urlVariables).filter((name) => !env[name]);
  if (missing.length > 0) {
    throw new StackError('BAD_DESCRIPTION', `STACK=external needs ${missing.join(', ')}`);
  }
  const url = (name: keyof typeof urlVariables) => env[urlVariables[name]] ?? '';
  return {
    kafka: url('kafka'),
    registry: url('registry'),
    clickhouse: url('clickhouse'),
    redis: url('redis'),
  };
}

/** What the engines ask of who connects: the same for each service of this stack. */
function externalAccess(env: Environment): EngineAccess {
  const urls: readonly string[] = Object.values(urlVariables);
  const redis = { ...redisFields, ...redisCacheFields };
  const engines = { ...kafkaFields, ...registryFields, ...redis, ...clickhouseFields };
  const fields = { ...engines, ...storeFields };
  const given = Object.values(fields).flatMap(({ name, isPath }: Field<unknown>) => {
    const value = env[name] ?? '';
    if (value === '' || urls.includes(name) || ownNames.includes(name)) return [];
    // Services have working directories of their own.
    return [[name, isPath === true ? resolve(value) : value] as const];
  });
  return Object.fromEntries(given);
}
