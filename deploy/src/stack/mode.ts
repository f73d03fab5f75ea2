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
import { nameFields } from '../installation/read-addresses.ts';
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

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads `STACK`; throws a `StackError` with the known values for any other one, with the missing URLs, or with a name
 * that no topic, key or database may have.
 */
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

/**
 * Credentials that external engines require of clients, and the names of topics, keys and tables there: the same for
 * each service of this stack.
 */
function externalAccess(env: Environment): EngineAccess {
  for (const field of Object.values(nameFields)) refuseName(field, env[field.name] ?? '');
  const urls: readonly string[] = Object.values(urlVariables);
  const redis = { ...redisFields, ...redisCacheFields };
  const engines = { ...kafkaFields, ...registryFields, ...redis, ...clickhouseFields };
  const fields = { ...engines, ...storeFields };
  const given = Object.values(fields).flatMap(({ name, isPath }: Field<unknown>) => {
    const value = env[name] ?? '';
    if (value === '' || urls.includes(name)) return [];
    // Services have working directories of their own.
    return [[name, isPath === true ? resolve(value) : value] as const];
  });
  return Object.fromEntries(given);
}

/** A wrong name is refused before anything is made. */
function refuseName({ name, allowed, parse }: Field<string>, given: string): void {
  if (given === '' || parse(given) !== null) return;
  throw new StackError('BAD_DESCRIPTION', `${name}=${given}: allowed is ${allowed}`);
}
