import {
  clickhouseFields,
  integer,
  kafkaFields,
  list,
  publicDoorFields,
  readConfig,
  redisFields,
  registryFields,
  secret,
  serviceFields,
} from '@pm/kit/config';

const ownFields = {
  /** Where the HTTP listener of reads listens; 0 takes a free port. */
  httpPort: integer('PM_HTTP_PORT', { min: 0, max: 65_535 }),
  /** The secret that API keys are derived from; the same as that of ingress. */
  keySecret: secret('PM_KEY_SECRET', { bytes: 32 }),
  /** Timestamps of signed requests may be off by so much (conventions.md 2.4). */
  freshnessSeconds: integer('PM_FRESHNESS_SECONDS', { min: 1, max: 3_600, default: 300 }),
  /** Sites that the parameter `creator` may name, each with one of its wallets: `site=0x...`, a site may come again. */
  creatorSites: list('PM_CREATOR_SITES', {
    default: [],
    max: 1_000,
    pattern: /^[a-z0-9.-]{1,100}=0x[0-9a-f]{40}$/,
  }),
};

const configFields = {
  ...serviceFields,
  ...kafkaFields,
  ...registryFields,
  ...redisFields,
  ...clickhouseFields,
  ...publicDoorFields,
  ...ownFields,
};

/** Reads the environment; throws the `Fault` `invalid_config` that names every variable that is wrong. */
export function readQueryApiConfig() {
  return readConfig(configFields);
}

export type QueryApiConfig = ReturnType<typeof readQueryApiConfig>;
