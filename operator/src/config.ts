import { signingFields } from '@pm/domain/accounts/signing-fields.io';
import { operatorOwnFields } from '@pm/domain/operators/own-fields.io';
import {
  type ConfigOf,
  clickhouseFields,
  drainFields,
  kafkaFields,
  namesOf,
  readConfig,
  redisCacheFields,
  redisFields,
  registryFields,
  rootKeyFields,
  serviceFields,
  storeFields,
  traceFields,
} from '@pm/kit/config';

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
