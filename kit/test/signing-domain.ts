import type { SigningDomain } from '@pm/schemas/signing';

/** The domain of the installation that tests talk to: it belongs to no other exchange. */
export const testDomain: SigningDomain = {
  name: 'Prediction Exchange',
  version: '2',
  chainId: 137,
  exchange: `0x${'e5a1'.repeat(10)}`,
  negRiskExchange: `0x${'e5a2'.repeat(10)}`,
};
