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
  walletAddress,
} from './fields.ts';
export {
  type ConfigOf,
  type ConfigRules,
  type Fields,
  readConfig,
  readParentPipe,
} from './read.ts';
export {
  clickhouseAccount,
  clickhouseFields,
  feeWalletFields,
  kafkaFields,
  namesOf,
  publicDoorFields,
  redisFields,
  registryFields,
  serviceFields,
} from './shared.ts';
