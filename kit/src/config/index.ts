/** @public The declarations of the rooms' configurations name it. */

export {
  clickhouseAccount,
  type KafkaSecurity,
  kafkaConnection,
  redisCacheConnection,
  redisConnection,
  registryConnection,
  storeConnection,
} from './connections.io.ts';
export {
  backupFields,
  clickhouseFields,
  engineVariables,
  kafkaFields,
  redisCacheFields,
  redisFields,
  registryFields,
  replicationMinField,
  rootKeyFields,
  storeFields,
} from './engines.io.ts';
export type { Field } from './fields.ts';
export {
  boolean,
  type ConfigOf,
  decimal,
  integer,
  list,
  oneOf,
  secret,
  text,
  url,
} from './fields.ts';
export { readBounded } from './files.io.ts';
export { path, readConfig, readParentPipe, readServiceLinks } from './read.io.ts';
export {
  addressPattern,
  bookNameFields,
  drainFields,
  freshnessIn,
  keySecretsIn,
  namesOf,
  publicHttpFields,
  secondPersonFields,
  serviceFields,
  traceFields,
} from './shared.ts';
