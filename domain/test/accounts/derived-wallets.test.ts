import { hexBytes, parseWalletAddress, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import { familyDomains } from '@pm/schemas/signing';
import { readPublishedVectors } from '../../../kit/test/published-vectors.ts';
import { testDomain } from '../../../kit/test/signing-domain.ts';
import { derivedWalletsOf, walletFactories } from '../../src/accounts/derived-wallets.ts';
import { defaultFeeWallet, isReservedAddress } from '../../src/accounts/reserved-addresses.ts';

const vectors = readPublishedVectors();
const given = vectors === null ? test.skip : test;

function address(text: string): WalletAddress {
  const parsed = parseWalletAddress(text);
  if (parsed === null) throw new Error(`${text} is no address`);
  return parsed;
}

function derivedFrom(owner: string) {
  const { proxies, safes } = derivedWalletsOf(hexBytes(address(owner)));
  return { proxies: proxies.map(walletFromBytes), safes: safes.map(walletFromBytes) };
}

/** As published clients of the family have them in their own tests. */
const published = [
  {
    owner: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    proxy: '0x365f0CA36Ae1f641E02fE3B7743673da42A13A70',
    safe: '0xd93B25cb943D14d0d34FBaF01Fc93a0f8b5F6E47',
  },
  {
    owner: '0x0000000000000000000000000000000000000001',
    proxy: '0x7754536ecd85c00b2E0CF9c1aA679340D8550756',
    safe: '0x766b6851A199BF91Ae3fa13B1cfaC5187355118f',
  },
  {
    owner: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    proxy: '0xd9d24e482c11F586cd9A1a53dC3eEc6dE3883862',
    safe: null,
  },
];

test.each(published)('proxy and Safe of $owner are the published ones', ({ owner, ...wallets }) => {
  const { proxies, safes } = derivedFrom(owner);
  expect(proxies).toEqual([address(wallets.proxy)]);
  expect(safes).toHaveLength(2);
  if (wallets.safe !== null) expect(safes[0]).toBe(address(wallets.safe));
});

given('Safes of published vectors follow from their owners', () => {
  for (const { eoa, address: safe } of vectors?.wallet_derivation ?? []) {
    expect(derivedFrom(eoa).safes).toContain(address(safe));
  }
  for (const { order } of vectors?.real_wallet_orders ?? []) {
    expect(derivedFrom(order.signer).safes).toContain(address(order.maker));
    expect(derivedFrom(order.maker).safes).not.toContain(address(order.signer));
  }
});

const feeWallet = address(`0x${'ab'.repeat(20)}`);

test.each([
  ['the zero address', `0x${'0'.repeat(40)}`],
  ['a precompiled contract', `0x${'9'.padStart(40, '0')}`],
  ['the largest small address', `0x${'ffff'.padStart(40, '0')}`],
  ['a burn address', `0x${'dead'.padStart(40, '0')}`],
  ['the default fee wallet', defaultFeeWallet],
  ['the configured fee wallet', feeWallet],
  ...[testDomain, ...familyDomains].flatMap((one) => [
    ['an exchange contract', one.exchange],
    ['a neg-risk exchange contract', one.negRiskExchange],
  ]),
  ...walletFactories.map((factory) => ['a wallet factory', walletFromBytes(factory)]),
])('%s is reserved: %s', (_what, text) => {
  expect(isReservedAddress(address(text ?? ''), { feeWallet, signingDomain: testDomain })).toBe(
    true,
  );
});

test.each([
  `0x${'10000'.padStart(40, '0')}`,
  published[0]?.owner ?? '',
  published[0]?.proxy ?? '',
  published[1]?.safe ?? '',
])('%s is not reserved', (text) => {
  expect(isReservedAddress(address(text), { feeWallet, signingDomain: testDomain })).toBe(false);
});
