export {
  boolean,
  decimal,
  type Field,
  integer,
  list,
  oneOf,
  optional,
  path,
  secret,
  text,
  url,
} from './fields.ts';
export {
  type ConfigOf,
  type ConfigRules,
  type Fields,
  readConfig,
  readParentPipe,
} from './read.io.ts';
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
