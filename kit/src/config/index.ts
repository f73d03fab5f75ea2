export {
  boolean,
  type ConfigOf,
  decimal,
  type Field,
  type Fields,
  integer,
  list,
  oneOf,
  optional,
  secret,
  text,
  url,
} from './fields.ts';
export { type ConfigRules, path, readConfig, readParentPipe } from './read.io.ts';
export {
  clickhouseAccount,
  clickhouseFields,
  kafkaFields,
  namesOf,
  publicDoorFields,
  redisFields,
  registryFields,
  serviceFields,
} from './shared.ts';
