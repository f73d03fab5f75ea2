import { derivedWalletsOf } from '@pm/domain/accounts/derived-wallets';
import { allWallets, CallerWallets, walletsOfType } from '@pm/domain/reading/caller-wallets';
import { hexBytes, walletFromBytes } from '@pm/schemas/ids';
import { wallet } from '../in-memory.ts';

const [own, other, bound] = [wallet(0x10001), wallet(0x10002), wallet(0x10003)];
const { proxies, safes } = derivedWalletsOf(hexBytes(own));
const derived = { proxies: proxies.map(walletFromBytes), safes: safes.map(walletFromBytes) };

const record = (of: typeof own, to: typeof own, boundBy: string) => ({
  wallet: hexBytes(of),
  owner: hexBytes(to),
  boundAtMs: 1,
  boundBy,
});

test('a caller trades from the own address, its derived wallets and those an operator bound to it', () => {
  const wallets = new CallerWallets();
  wallets.take(record(bound, own, 'ann'));
  const set = wallets.of(own);
  expect(set).toEqual({ own, ...derived, bound: [bound] });
  expect(allWallets(set)).toEqual([own, ...derived.proxies, ...derived.safes, bound]);
  expect(walletsOfType(set, 0)).toEqual([own]);
  expect(walletsOfType(set, 1)).toEqual([...derived.proxies, bound]);
  expect(walletsOfType(set, 2)).toEqual([...derived.safes, bound]);
  expect(walletsOfType(set, 3)).toEqual([bound]);
});

test('the first record of an operator counts, and one that a signature wrote does not', () => {
  const wallets = new CallerWallets();
  wallets.take(record(bound, other, ''));
  expect(wallets.of(other).bound).toEqual([]);
  expect(walletsOfType(wallets.of(other), 3)).toEqual([other]);
  wallets.take(record(bound, own, 'ann'));
  wallets.take(record(bound, other, 'bob'));
  expect([wallets.of(own).bound, wallets.of(other).bound]).toEqual([[bound], []]);
});

test("a wallet whose own key was proven is no other address's, whatever a record says", () => {
  const wallets = new CallerWallets();
  wallets.take(record(bound, own, 'ann'));
  wallets.prove(bound);
  expect(wallets.of(own).bound).toEqual([]);
});
