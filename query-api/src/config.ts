import { signingFields } from '@pm/domain/accounts/signing-fields.io';
import {
  bookNameFields,
  clickhouseFields,
  drainFields,
  kafkaFields,
  list,
  namesOf,
  path,
  publicHttpFields,
  readConfig,
  redisCacheFields,
  redisFields,
  registryFields,
  rootKeyFields,
  serviceFields,
  storeFields,
  traceFields,
} from '@pm/kit/config';

/** Variables of query-api; the configuration reference is made of them. */
export const queryApiFields = {
  ...serviceFields,
  ...drainFields,
  ...traceFields,
  ...kafkaFields,
  ...rootKeyFields,
  ...redisFields,
  ...redisCacheFields,
  ...clickhouseFields,
  ...publicHttpFields,
  ...signingFields,
  ...bookNameFields,
  consoleDir: path('PM_CONSOLE_DIR', {
    meaning:
      'Folder of the built console, served under `/console/`; an absent one is answered with 404.',
    default: 'console/dist',
  }),
  streamsUrls: list('PM_STREAMS_OPS_URLS', {
    meaning:
      'Ops listeners of the instances of streams, `http://host:port`: `GET /status` shows whether they follow the log.',
    default: [],
    max: 100,
    pattern: /^https?:\/\/[\w.:-]{1,200}$/,
  }),
  creatorSites: list('PM_CREATOR_SITES', {
    meaning:
      'Sites that the parameter `creator` may name, each with one of its wallets: `site=0x...`; a site may come again.',
    default: [],
    max: 1_000,
    pattern: /^[a-z0-9.-]{1,100}=0x[0-9a-f]{40}$/,
  }),
};

/** Reads the environment; throws the `Fault` `invalid_config` that names every variable that is wrong. */
export function readQueryApiConfig() {
  return readConfig(queryApiFields, undefined, { known: namesOf(registryFields, storeFields) });
}

export type QueryApiConfig = ReturnType<typeof readQueryApiConfig>;
