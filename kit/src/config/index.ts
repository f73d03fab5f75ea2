/** @public The declarations of the rooms' configurations name it. */
export type { Field } from './fields.ts';
export {
  boolean,
  type ConfigOf,
  integer,
  list,
  oneOf,
  secret,
  text,
  url,
} from './fields.ts';
export { path, readConfig, readParentPipe } from './read.io.ts';
export {
  addressPattern,
  bookNameFields,
  clickhouseAccount,
  clickhouseFields,
  freshnessIn,
  kafkaFields,
  keySecretsIn,
  namesOf,
  publicDoorFields,
  redisFields,
  registryFields,
  replicationMinField,
  rootKeyFields,
  serviceFields,
} from './shared.ts';
