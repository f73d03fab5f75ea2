import {
  boolean,
  type ConfigOf,
  clickhouseFields,
  integer,
  kafkaFields,
  namesOf,
  publicDoorFields,
  readConfig,
  redisFields,
  registryFields,
  secret,
  serviceFields,
  text,
} from '@pm/kit/config';

const port = { min: 0, max: 65_535 };

const fields = {
  /** Whether markets at extreme prices get a finer tick by themselves (conventions.md 4.3). */
  tickRefinement: boolean('PM_TICK_REFINEMENT', { default: true }),
  ...serviceFields,
  ...kafkaFields,
  ...registryFields,
  ...redisFields,
  ...publicDoorFields,
  /** The public door. */
  httpPort: integer('PM_HTTP_PORT', port),
  /** The operator's door, never reachable from outside. */
  operatorPort: integer('PM_OPERATOR_PORT', port),
  operatorToken: text('PM_OPERATOR_TOKEN', {
    pattern: /^[\x21-\x7e]{16,256}$/,
    allowed: '16 to 256 visible characters',
    secret: true,
  }),
  /** Seed of the key that may set markets; it must be the operator key the partitions were opened with. */
  operatorSeed: secret('PM_OPERATOR_SEED', { bytes: 32 }),
  /** Seed of the key that signs orders off; the partitions must know it as an INGRESS key. One per process. */
  signOffSeed: secret('PM_SIGNOFF_SEED', { bytes: 32 }),
  /** What all API keys are derived from; changing it makes every key unknown. */
  keySecret: secret('PM_KEY_SECRET', { bytes: 32 }),
  freshnessSeconds: integer('PM_FRESHNESS_SECONDS', { min: 1, max: 3_600, default: 300 }),
  resultWaitMs: integer('PM_RESULT_WAIT_MS', { min: 1, max: 30_000, default: 2_000 }),
  /** Threads that check signatures; 0 checks them on the main one. */
  signatureWorkers: integer('PM_SIGNATURE_WORKERS', { min: 0, max: 64, default: 1 }),
};

export type IngressConfig = ConfigOf<typeof fields>;

/** Reads and checks the environment. Throws the `Fault` `invalid_config` (stop). */
export function readIngressConfig(env?: Readonly<Record<string, string | undefined>>) {
  return readConfig(fields, env, {
    known: namesOf(clickhouseFields),
    relations: ({ httpPort, operatorPort, operatorSeed, signOffSeed }) => [
      ...(httpPort !== 0 && httpPort === operatorPort
        ? ['PM_HTTP_PORT and PM_OPERATOR_PORT must differ']
        : []),
      ...(operatorSeed.equals(signOffSeed)
        ? ['PM_OPERATOR_SEED and PM_SIGNOFF_SEED must differ']
        : []),
    ],
  });
}
