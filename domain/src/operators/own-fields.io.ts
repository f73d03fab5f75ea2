import {
  addressPattern,
  boolean,
  integer,
  list,
  secondPersonFields,
  secret,
  text,
} from '@pm/kit/config';

/** Variables of the program `operator` that no other reads; ingress names that program where it finds one of them. */
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
