import { signingFields } from '@pm/domain/accounts/signing-fields.io';
import {
  addressPattern,
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
  rootKeyFields,
  secondPersonFields,
  secret,
  serviceFields,
  text,
} from '@pm/kit/config';

/** Variables of ingress; the configuration reference is made of them. */
export const ingressFields = {
  tickRefinement: boolean('PM_TICK_REFINEMENT', {
    meaning:
      'Whether markets at extreme prices get a finer tick by themselves (conventions.md 3.5).',
    default: true,
  }),
  ...serviceFields,
  ...kafkaFields,
  ...rootKeyFields,
  ...registryFields,
  ...redisFields,
  ...publicDoorFields,
  ...signingFields,
  operatorHost: text('PM_OPERATOR_HOST', {
    meaning: "Address that the operator's listener binds to; never public.",
    default: '127.0.0.1',
    pattern: addressPattern,
  }),
  operatorPort: integer('PM_OPERATOR_PORT', {
    meaning: "Port of the operator's listener; never public.",
    unit: 'port',
    min: 0,
    max: 65_535,
  }),
  operatorsFile: text('PM_OPERATORS_FILE', {
    meaning:
      'File of the operators with their roles and the hashes of their tokens (operator.md); read again when it changes.',
    pattern: /^.{1,4096}$/,
    allowed: 'a path',
  }),
  ...secondPersonFields,
  operatorSeed: secret('PM_OPERATOR_SEED', {
    meaning:
      'Ed25519 seed of the key that may set markets; it must be the operator key that the partitions were opened with.',
    bytes: 32,
  }),
  signOffSeed: secret('PM_SIGNOFF_SEED', {
    meaning:
      'Ed25519 seed of the key that signs envelopes; the partitions must list it as an INGRESS key. One per process.',
    bytes: 32,
  }),
  resultWaitMs: integer('PM_RESULT_WAIT_MS', {
    meaning: 'Time a request waits for its result on the log before it is answered `delayed`.',
    unit: 'milliseconds',
    min: 1,
    max: 30_000,
    default: 2_000,
  }),
  resultMemoryBytes: integer('PM_RESULT_MEMORY_BYTES', {
    meaning:
      'Memory for the first results of orders, 96 bytes each. While it covers five minutes of results, a repeated order gets its first result without the log: 64 MiB at 2,300 a second.',
    unit: 'bytes',
    min: 1_048_576,
    max: 4_294_967_296,
    default: 67_108_864,
  }),
  signatureWorkers: integer('PM_SIGNATURE_WORKERS', {
    meaning: 'Threads that check wallet signatures; with 0 the main thread does.',
    unit: 'threads',
    min: 0,
    max: 64,
    default: 1,
  }),
};

export type IngressConfig = ConfigOf<typeof ingressFields>;

/** Reads and checks the environment. Throws the `Fault` `invalid_config` (stop). */
export function readIngressConfig(env?: Readonly<Record<string, string | undefined>>) {
  return readConfig(ingressFields, env, {
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
