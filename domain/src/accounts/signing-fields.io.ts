import { boolean, type Field } from '@pm/kit/config';
import type { SigningDomain } from '@pm/schemas/signing';
import { parseSigningDomain } from './signing-domain.ts';

/** A domain of the operator's choice; null for the one that belongs to the log. */
const signingDomain: Field<SigningDomain | null> = {
  name: 'PM_SIGNING_DOMAIN',
  meaning:
    'EIP-712 domain that orders and wallet proofs are signed for, as JSON with the fields of `GET /signing-domain`. By default it follows from the first record of the log and belongs to this installation alone.',
  allowed:
    'JSON of name, version, chainId, exchange and negRiskExchange; both contracts in lower case, of no other exchange',
  secret: false,
  fallback: { value: null, shown: '' },
  parse(given) {
    const value = parseSigningDomain(given);
    return value === null ? null : { value };
  },
};

/** Variables of the services that accept or describe signatures. */
export const signingFields = {
  signingDomain,
  familyDomains: boolean('PM_FAMILY_DOMAINS', {
    meaning:
      'Whether signatures that published clients make for other exchanges of the API family are accepted as well. For demos: such an order can be carried out at each of these exchanges.',
    default: false,
  }),
};
