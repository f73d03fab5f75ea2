import { hexBytes, safesOf, type WalletAddress, walletFromBytes } from '@pm/schemas';
import fc from 'fast-check';
import { WalletOwners } from '../../src/core/wallet-owners.ts';
import { addressOf } from '../owners-fixture.ts';
import { keccak } from '../wallet-fixture.ts';

const [wallet, owner, other] = [addressOf(0x44), addressOf(0x01), addressOf(0x02)];

test('a wallet nobody bound has no owner', () => {
  expect(new WalletOwners(keccak).ownerOf(wallet)).toBeUndefined();
});

test('the first record of a wallet counts, whatever follows', () => {
  const addresses = fc.integer({ min: 0, max: 3 }).map((index) => addressOf(0x10 + index));
  const records = fc.array(fc.tuple(addresses, addresses), { maxLength: 30 });
  fc.assert(
    fc.property(records, (given) => {
      const owners = new WalletOwners(keccak);
      const first = new Map<WalletAddress, WalletAddress>();
      for (const [bound, to] of given) {
        owners.bind(bound, to);
        if (!first.has(bound)) first.set(bound, to);
      }
      for (const [bound, to] of first) expect(owners.ownerOf(bound)).toBe(to);
      expect(owners.boundCount).toBe(first.size);
    }),
  );
});

test('an own address and its Safes count more than any record, before it and behind it', () => {
  const safes = safesOf(hexBytes(owner), keccak).map(walletFromBytes);
  expect(new Set(safes).size).toBe(2);
  for (const mine of [owner, ...safes]) {
    const owners = new WalletOwners(keccak);
    owners.bind(mine, other);
    expect(owners.ownerOf(mine)).toBe(other);
    owners.prove(owner);
    expect(owners.ownerOf(mine)).toBe(owner);
    owners.bind(mine, other);
    expect(owners.ownerOf(mine)).toBe(owner);
    owners.prove(other);
    expect(owners.ownerOf(mine)).toBe(owner);
  }
});
