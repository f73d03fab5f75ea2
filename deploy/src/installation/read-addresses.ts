import {
  type ConfigOf,
  clickhouseFields,
  kafkaFields,
  readConfig,
  redisFields,
  registryFields,
} from '@pm/kit/config';
import type { EngineAccess, EngineUrls } from '../local/engines.ts';

const fields = { ...kafkaFields, ...registryFields, ...redisFields, ...clickhouseFields };

/** Addresses of an installation, the names of its topics, tables and keys, and what its engines ask of who connects. */
export type Addresses = ReturnType<typeof readAddresses>;

/** Names of the topics, keys and tables of an installation, by which several may share engines. */
export const nameFields = {
  topicPrefix: kafkaFields.topicPrefix,
  redisPrefix: redisFields.redisPrefix,
  clickhouseDatabase: clickhouseFields.clickhouseDatabase,
};

/** Their values. */
export type InstallationNames = ConfigOf<typeof nameFields>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the variables of the engines and ignores all others. Throws the `Fault` `invalid_config` (stop). */
export function readAddresses(env: Environment) {
  return readConfig(fields, env, { known: Object.keys(env) });
}

/** Reads the names alone and ignores all other variables. Throws the `Fault` `invalid_config` (stop). */
export function readNames(env: Environment): InstallationNames {
  return readConfig(nameFields, env, { known: Object.keys(env) });
}

/**
 * Addresses of an installation whose engines have known URLs; all other variables are read from `access`. Throws the
 * `Fault` `invalid_config` (stop).
 */
export function addressesOf(urls: EngineUrls, access: EngineAccess | Environment): Addresses {
  return readAddresses({
    ...access,
    PM_KAFKA_BROKERS: urls.kafka,
    PM_REGISTRY_URL: urls.registry,
    PM_CLICKHOUSE_URL: urls.clickhouse,
    PM_REDIS_URL: urls.redis,
  });
}

/** The names in addresses. */
export function namesAt(addresses: Addresses): InstallationNames {
  const { topicPrefix, redisPrefix, clickhouseDatabase } = addresses;
  return { topicPrefix, redisPrefix, clickhouseDatabase };
}
