import {
  bookNameFields,
  clickhouseFields,
  drainFields,
  integer,
  kafkaFields,
  list,
  namesOf,
  oneOf,
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

const {
  host,
  httpPort,
  keySecret,
  otherKeySecrets,
  freshnessSeconds,
  freshnessMs,
  trustedProxies,
  connectionsPerAddress,
} = publicHttpFields;

/** Variables of the program `streams`; the configuration reference is made of them. */
export const streamsFields = {
  ...serviceFields,
  ...drainFields,
  ...traceFields,
  ...kafkaFields,
  ...rootKeyFields,
  host,
  httpPort,
  keySecret,
  otherKeySecrets,
  freshnessSeconds,
  freshnessMs,
  trustedProxies,
  connectionsPerAddress,
  ...bookNameFields,
  stateDir: path('PM_STREAMS_DIR', {
    meaning:
      'Folder of the states from which a restart goes on, and of the transfers of all wallets, 80 bytes each; without them the log is read from its start.',
  }),
  saveRecords: integer('PM_STREAMS_SAVE_RECORDS', {
    meaning: 'Records of a partition after which its state is written.',
    unit: 'records',
    min: 1,
    max: 100_000_000,
    default: 50_000,
  }),
  saveMs: integer('PM_STREAMS_SAVE_MS', {
    meaning:
      'Time, by the clock of a partition, after which the state of one with new records is written.',
    unit: 'milliseconds',
    min: 100,
    max: 86_400_000,
    default: 20_000,
  }),
  ingressUrls: list('PM_INGRESS_URL', {
    meaning:
      'Base URL of ingress, or those of its processes, for the heartbeats of `cancel_on_disconnect`: where one fails, the next one gets them. They count for the address of their client where ingress has the address of streams in `PM_TRUSTED_PROXIES`.',
    max: 100,
    pattern: /^https?:\/\/[^\s,/]{1,200}(\/[^\s,]{0,200})?$/,
  }),
  compression: oneOf('PM_STREAMS_COMPRESSION', ['off', 'on'], {
    meaning: 'Whether messages are compressed for clients that ask for it.',
    default: 'off',
  }),
};

/** Reads the environment; throws the `Fault` `invalid_config` that names every variable that is wrong. */
export function readStreamsConfig() {
  return readConfig(streamsFields, undefined, {
    known: namesOf(registryFields, redisFields, redisCacheFields, clickhouseFields, storeFields),
  });
}

export type StreamsConfig = ReturnType<typeof readStreamsConfig>;
