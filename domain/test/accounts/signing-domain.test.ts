import { hexBytes } from '@pm/schemas/ids';
import type { CommandOf } from '@pm/schemas/log/orders';
import { familyDomains, type SigningDomain } from '@pm/schemas/signing';
import { testDomain } from '../../../kit/test/signing-domain.ts';
import { defaultFeeWallet } from '../../src/accounts/reserved-addresses.ts';
import {
  acceptedDomains,
  derivedDomain,
  parseSigningDomain,
} from '../../src/accounts/signing-domain.ts';
import { signingFields } from '../../src/accounts/signing-fields.io.ts';

const opening: CommandOf<'OpenPartition'> = {
  kind: 'OpenPartition',
  partition: 0,
  operatorKey: Buffer.alloc(32, 1),
  feeWallet: hexBytes(defaultFeeWallet),
  bookAgeLimitMs: 2_000,
  orderAgeLimitMs: 86_400_000,
  timeMs: 1_780_000_000_000,
};

test('the domain of a log is always the same', () => {
  expect(derivedDomain(opening)).toEqual({
    name: 'Prediction Exchange',
    version: '2',
    chainId: 137,
    exchange: '0xb9a9c261181b6ef14a314c122b6bcf432a411637',
    negRiskExchange: '0x800ce31e9d059dca3b8960522bd7be097fb22d27',
  });
});

test.each([
  ['operator', { operatorKey: Buffer.alloc(32, 2) }],
  ['fee wallet', { feeWallet: Buffer.alloc(20, 2) }],
  ['moment', { timeMs: opening.timeMs + 1 }],
])('a log that was opened by another %s has another domain', (_what, change) => {
  const [one, other] = [derivedDomain(opening), derivedDomain({ ...opening, ...change })];
  const contracts = [one, other].flatMap((domain) => [domain.exchange, domain.negRiskExchange]);
  expect(new Set(contracts).size).toBe(4);
});

test('the domains of other exchanges are accepted where configured, beside the own one', () => {
  const own = derivedDomain(opening);
  const config = { signingDomain: null, familyDomains: false };
  expect(acceptedDomains(config, opening)).toEqual({ own, family: [] });
  const demo = acceptedDomains({ ...config, familyDomains: true }, opening);
  expect(demo).toEqual({ own, family: familyDomains });
  const configured = acceptedDomains({ ...config, signingDomain: testDomain }, opening);
  expect(configured).toEqual({ own: testDomain, family: [] });
});

test('a configured domain is that of no other exchange', () => {
  expect(parseSigningDomain(JSON.stringify({ ...testDomain, familyDomains: [] }))).toEqual(
    testDomain,
  );
  const [family] = familyDomains as readonly [SigningDomain];
  const wrong = [
    family,
    { ...testDomain, negRiskExchange: family.exchange },
    { ...testDomain, negRiskExchange: testDomain.exchange },
    { ...testDomain, exchange: '0x12' },
    { ...testDomain, chainId: 0 },
    { ...testDomain, chainId: '137' },
    { ...testDomain, name: '' },
    { ...testDomain, version: 2 },
    [],
    null,
  ];
  for (const one of wrong) expect(parseSigningDomain(JSON.stringify(one))).toBeNull();
  expect(parseSigningDomain('{')).toBeNull();
  expect(signingFields.signingDomain.parse(JSON.stringify(family))).toBeNull();
});
