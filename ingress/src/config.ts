import { signingFields } from '@pm/domain/accounts/signing-fields.io';
import { operatorOwnFields } from '@pm/domain/operators/own-fields.io';
import {
  type ConfigOf,
  clickhouseFields,
  decimal,
  drainFields,
  integer,
  kafkaFields,
  namesOf,
  publicHttpFields,
  readConfig,
  redisCacheFields,
  redisFields,
  registryFields,
  rootKeyFields,
  secret,
  serviceFields,
  storeFields,
  traceFields,
} from '@pm/kit/config';

/** Variables of ingress; the configuration reference is made of them. */
export const ingressFields = {
  ...serviceFields,
  ...drainFields,
  ...traceFields,
  ...kafkaFields,
  ...rootKeyFields,
  ...redisFields,
  ...redisCacheFields,
  ...publicHttpFields,
  ...signingFields,
  rateLimitUnfundedFactor: decimal('PM_RATE_LIMIT_UNFUNDED_FACTOR', {
    meaning:
      'Multiplies the limits of trading for all wallets without money at an address together.',
    unit: 'factor',
    min: 0.001,
    max: 1_000_000,
    default: 0.1,
  }),
  signOffSeed: secret('PM_SIGNOFF_SEED', {
    meaning:
      'Ed25519 seed of the key that signs envelopes; the partitions must list it as an INGRESS key. Processes may share one.',
    bytes: 32,
  }),
  resultWaitMs: integer('PM_RESULT_WAIT_MS', {
    meaning:
      'Time a request waits for its result on the log before it is answered `order_unconfirmed`, `cancel_unconfirmed` or `action_unconfirmed`.',
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
    known: namesOf(registryFields, clickhouseFields, storeFields),
    elsewhere: { program: 'operator', names: namesOf(operatorOwnFields) },
  });
}
