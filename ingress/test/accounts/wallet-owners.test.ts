import { derivedWalletsOf } from '@pm/domain/accounts/derived-wallets';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import { hexBytes, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import { familyDomains } from '@pm/schemas/signing';
import fc from 'fast-check';
import { testDomain } from '../../../kit/test/signing-domain.ts';
import { addressOf } from '../owners-fixture.ts';
import { keccak } from '../wallet-fixture.ts';

const [wallet, owner, other] = [addressOf(0x44), addressOf(0x01), addressOf(0x02)];
const open = (feeWallet = defaultFeeWallet) =>
  new WalletOwners(keccak, { feeWallet, signingDomain: testDomain });
const boundBy = (name: string) => ({ boundAtMs: 7, boundBy: name });
const derived = (address: WalletAddress) => {
  const { proxies, safes } = derivedWalletsOf(hexBytes(address), keccak);
  return [...proxies, ...safes].map(walletFromBytes);
};

test('a wallet that no operator bound has no owner', () => {
  const owners = open();
  owners.prove(owner);
  expect(owners.ownerOf(wallet)).toBeUndefined();
  expect(owners.isOwnedBy(wallet, owner)).toBe(false);
});

test('the first record of an operator counts, whatever follows and whatever signatures left before', () => {
  const addresses = fc.integer({ min: 0, max: 3 }).map((index) => addressOf(0x10 + index));
  const names = fc.constantFrom('', 'ann', 'bob');
  const records = fc.array(fc.tuple(addresses, addresses, names), { maxLength: 30 });
  fc.assert(
    fc.property(records, (given) => {
      const owners = open();
      const first = new Map<WalletAddress, WalletAddress>();
      for (const [bound, to, name] of given) {
        owners.bind({ wallet: bound, owner: to, ...boundBy(name) });
        if (name !== '' && !first.has(bound)) first.set(bound, to);
      }
      for (const [bound] of given) expect(owners.ownerOf(bound)).toBe(first.get(bound));
      expect(owners.boundCount).toBe(first.size);
    }),
  );
});

test('an own address and the wallets derived from it count more than any record, before it and after it', () => {
  expect(new Set(derived(owner)).size).toBe(3);
  for (const mine of [owner, ...derived(owner)]) {
    const owners = open();
    owners.bind({ wallet: mine, owner: other, ...boundBy('ann') });
    expect(owners.isOwnedBy(mine, other)).toBe(true);
    owners.prove(owner);
    owners.bind({ wallet: mine, owner: other, ...boundBy('ann') });
    owners.prove(other);
    expect(owners.isOwnedBy(mine, owner)).toBe(true);
    expect(owners.isOwnedBy(mine, other)).toBe(false);
    expect(owners.find(mine)).toEqual({ basis: mine === owner ? 'own_key' : 'factory', owner });
  }
});

test('a binding names its operator and its time', () => {
  const owners = open();
  owners.bind({ wallet, owner, ...boundBy('ann') });
  expect(owners.find(wallet)).toEqual({ basis: 'operator', owner, boundAtMs: 7, boundBy: 'ann' });
});

const factory = '0xab45c5a4b0c941a2f231c04c3f49182e1a254052' as WalletAddress;
const contracts = [testDomain, ...familyDomains].flatMap(
  ({ exchange, negRiskExchange }) => [exchange, negRiskExchange] as WalletAddress[],
);
const small = (hex: string) => `0x${hex.padStart(40, '0')}` as WalletAddress;
const configured = addressOf(0xfe);

test.each([
  small('0'),
  small('1'),
  small('dead'),
  small('ffff'),
  ...contracts,
  factory,
  configured,
])('the reserved address %s is owned by no address, itself included', (reserved) => {
  const owners = open(configured);
  owners.prove(reserved);
  owners.bind({ wallet: reserved, owner, ...boundBy('ann') });
  owners.bind({ wallet, owner: reserved, ...boundBy('ann') });
  for (const address of [owner, reserved]) {
    expect(owners.isOwnedBy(reserved, address)).toBe(false);
    expect(owners.isOwnedBy(wallet, reserved)).toBe(false);
  }
  for (const mine of derived(reserved)) expect(owners.ownerOf(mine)).toBeUndefined();
  expect(owners.find(reserved)).toBeUndefined();
  expect(owners.judge({ wallet: reserved, owner })).toBe('reserved');
  expect(owners.judge({ wallet: addressOf(0x77), owner: reserved })).toBe('reserved');
  expect(owners.takesDeposits(reserved)).toBe(reserved === configured);
});

test('a binding is judged by proofs and records', () => {
  const owners = open();
  owners.bind({ wallet, owner, ...boundBy('ann') });
  owners.prove(other);
  const [derivedOfOther] = derived(other);
  const [derivedOfOwner] = derived(owner);
  if (derivedOfOther === undefined || derivedOfOwner === undefined) throw new Error('a proxy');
  expect(owners.judge({ wallet, owner })).toBe('already');
  expect(owners.judge({ wallet, owner: other })).toBe('taken');
  expect(owners.judge({ wallet: other, owner })).toBe('taken');
  expect(owners.judge({ wallet: derivedOfOther, owner })).toBe('taken');
  expect(owners.judge({ wallet: derivedOfOwner, owner })).toBe('already');
  expect(owners.judge({ wallet: owner, owner })).toBe('own_address');
  owners.bind({ wallet: derivedOfOwner, owner: other, ...boundBy('ann') });
  expect(owners.judge({ wallet: derivedOfOwner, owner })).toBe('taken');
  expect(owners.judge({ wallet: addressOf(0x55), owner })).toBe('free');
  expect(owners.takesDeposits(wallet)).toBe(true);
});
