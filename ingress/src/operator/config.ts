import { signingFields } from '@pm/domain/accounts/signing-fields.io';
import {
  addressPattern,
  boolean,
  type ConfigOf,
  clickhouseFields,
  drainFields,
  integer,
  kafkaFields,
  list,
  namesOf,
  readConfig,
  redisCacheFields,
  redisFields,
  registryFields,
  rootKeyFields,
  secondPersonFields,
  secret,
  serviceFields,
  storeFields,
  text,
  traceFields,
} from '@pm/kit/config';

/** Variables that no other service reads. */
export const operatorOwnFields = {
  tickRefinement: boolean('PM_TICK_REFINEMENT', {
    meaning:
      'Whether markets at extreme prices get a finer tick by themselves (conventions.md 3.5).',
    default: true,
  }),
  marketsMax: integer('PM_MARKETS_MAX', {
    meaning:
      'Markets that may be listed, resolved ones included; a listing beyond them is refused with `catalog_full`. Each takes memory in every service ([limits.md](../trading/limits.md)): with larger heaps there may be more.',
    unit: 'markets',
    min: 1,
    max: 10_000_000,
    default: 30_000,
  }),
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
  operatorNames: list('PM_OPERATOR_NAMES', {
    meaning:
      "Names under which the operator's listener is reached besides loopback and its address, such as that of a service or a tunnel; requests for other hosts are refused.",
    default: [],
    pattern: addressPattern,
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
      'Ed25519 seed of the key that may set markets; the partitions and service-keys must list it as an OPERATOR key.',
    bytes: 32,
  }),
};

/** Variables of the program `operator`; the configuration reference is made of them. */
export const operatorFields = {
  ...operatorOwnFields,
  ...serviceFields,
  ...drainFields,
  ...kafkaFields,
  ...rootKeyFields,
  ...redisFields,
  signingDomain: signingFields.signingDomain,
};

export type OperatorConfig = ConfigOf<typeof operatorFields>;

/** Reads and checks the environment. Throws the `Fault` `invalid_config` (stop). */
export function readOperatorConfig(env?: Readonly<Record<string, string | undefined>>) {
  const engines = namesOf(registryFields, redisCacheFields, clickhouseFields, storeFields);
  const known = [...engines, ...namesOf(traceFields)];
  return readConfig(operatorFields, env, { known });
}
