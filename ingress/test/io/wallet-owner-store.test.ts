import { Fault } from '@pm/kit/fault';
import { hexBytes, safesOf, type WalletAddress, walletFromBytes } from '@pm/schemas';
import { claimedWalletsMax } from '../../src/core/key-limits.ts';
import { openClaimsMax } from '../../src/io/wallet-owner-store.ts';
import { addressOf, OwnersTopic } from '../owners-fixture.ts';
import { keccak } from '../wallet-fixture.ts';

const [wallet, owner, other] = [addressOf(0x44), addressOf(0x01), addressOf(0x02)];

test('the first claim writes one record and waits until it has come back', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open({ nowMs: () => 77 });
  topic.isHeldUp = true;
  let claimed: unknown = 'open';
  const claim = store.claim(wallet, owner).then((refusal) => {
    claimed = refusal;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(topic.records).toEqual([
    { wallet: hexBytes(wallet), owner: hexBytes(owner), boundAtMs: 77 },
  ]);
  expect(claimed).toBe('open');
  topic.goOn();
  await claim;
  expect(claimed).toBeNull();
  expect(await store.claim(wallet, owner)).toBeNull();
  expect(await store.claim(wallet, other)).toBe('signer_mismatch');
  expect(topic.records).toHaveLength(1);
});

test('many orders of a new wallet at once write one record; another owner among them is refused', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open();
  const claims = [owner, owner, other, owner].map((one) => store.claim(wallet, one));
  expect(await Promise.all(claims)).toEqual([null, null, 'signer_mismatch', null]);
  expect(topic.records).toHaveLength(1);
});

test('a binding survives a restart', async () => {
  const topic = new OwnersTopic();
  expect(await topic.open().store.claim(wallet, owner)).toBeNull();
  const { store, owners } = topic.open();
  expect(owners.boundCount).toBe(1);
  expect(await store.claim(wallet, other)).toBe('signer_mismatch');
  expect(await store.claim(wallet, owner)).toBeNull();
  expect(topic.records).toHaveLength(1);
});

test('of two processes that race the first record wins, in both and after every restart', async () => {
  for (const [first, second] of [
    [owner, other],
    [other, owner],
  ] as const) {
    const topic = new OwnersTopic();
    const [left, right] = [topic.open(), topic.open()];
    const claims = [left.store.claim(wallet, first), right.store.claim(wallet, second)];
    expect(await Promise.all(claims)).toEqual([null, 'signer_mismatch']);
    expect(topic.records).toHaveLength(2);
    for (const { store } of [left, right, topic.open()]) {
      expect(await store.claim(wallet, first)).toBeNull();
      expect(await store.claim(wallet, second)).toBe('signer_mismatch');
    }
    expect(topic.records).toHaveLength(2);
  }
});

test('the same owner in two processes at once is the owner in both', async () => {
  const topic = new OwnersTopic();
  const claims = [topic.open(), topic.open()].map(({ store }) => store.claim(wallet, owner));
  expect(await Promise.all(claims)).toEqual([null, null]);
});

test('a record that does not come back in time is 503, and counts when it comes', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open({ waitMs: 20 });
  topic.isHeldUp = true;
  expect(await store.claim(wallet, owner)).toBe('overloaded');
  topic.goOn();
  expect(await store.claim(wallet, owner)).toBeNull();
  expect(await store.claim(wallet, other)).toBe('signer_mismatch');
  expect(topic.records).toHaveLength(1);
});

test('a send that certainly left nothing is 503 at once and can be tried again', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open({ waitMs: 60_000 });
  for (const code of ['queue_full', 'not_sent', 'partition_unknown']) {
    topic.fault = new Fault(code, 'retry');
    expect(await store.claim(wallet, owner)).toBe('overloaded');
  }
  topic.fault = new Error('a broken assumption');
  expect(await store.claim(wallet, owner)).toBe('internal_error');
  topic.fault = null;
  expect(await store.claim(wallet, owner)).toBeNull();
});

test('of a send with an unknown outcome the topic tells', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open({ waitMs: 50 });
  topic.fault = new Fault('send_outcome_unknown', 'release');
  expect(await store.claim(wallet, owner)).toBe('overloaded');
  topic.landsAnyway = true;
  expect(await store.claim(wallet, owner)).toBeNull();
});

test('more wallets than are bound at once are 503', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open();
  topic.isHeldUp = true;
  const walletAt = (index: number) =>
    walletFromBytes(
      Buffer.concat([Buffer.alloc(16, 9), Buffer.from(Uint32Array.of(index).buffer)]),
    );
  const claims = Array.from({ length: openClaimsMax }, (_one, index) =>
    store.claim(walletAt(index), walletAt(openClaimsMax + 1 + index)),
  );
  expect(await store.claim(walletAt(openClaimsMax), owner)).toBe('overloaded');
  topic.goOn();
  expect(new Set(await Promise.all(claims))).toEqual(new Set([null]));
  expect(topic.records).toHaveLength(openClaimsMax);
});

test('one owner claims no more wallets than the limit, with those on their way, also after a restart', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open();
  const wallets = Array.from({ length: claimedWalletsMax + 1 }, (_one, at) => addressOf(0x40 + at));
  const [first, ...others] = wallets as [WalletAddress, ...WalletAddress[]];
  const outcomes = await Promise.all(others.map((wallet) => store.claim(wallet, owner)));
  expect(new Set(outcomes)).toEqual(new Set([null]));
  expect(topic.records).toHaveLength(claimedWalletsMax);
  for (const { store: process } of [{ store }, topic.open()]) {
    expect(await process.claim(first, owner)).toBe('too_many_wallets');
    for (const wallet of others) expect(await process.claim(wallet, owner)).toBeNull();
    expect(await process.claim(owner, owner)).toBeNull();
  }
  expect(topic.records).toHaveLength(claimedWalletsMax);
});

test('two orders of one new wallet are one claim, also at the limit', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open();
  for (let at = 1; at < claimedWalletsMax; at += 1) await store.claim(addressOf(0x40 + at), owner);
  const twice = [store.claim(addressOf(0x90), owner), store.claim(addressOf(0x90), owner)];
  expect(await Promise.all(twice)).toEqual([null, null]);
});

test('own addresses and Safes of who has proven himself write nothing and cannot be taken', async () => {
  const topic = new OwnersTopic();
  const { store, owners } = topic.open();
  expect(await store.claim(owner, owner)).toBeNull();
  owners.prove(owner);
  for (const safe of safesOf(hexBytes(owner), keccak).map(walletFromBytes)) {
    expect(await store.claim(safe, other)).toBe('signer_mismatch');
    expect(await store.claim(safe, owner)).toBeNull();
  }
  expect(await store.claim(owner, other)).toBe('signer_mismatch');
  expect(topic.records).toHaveLength(0);
});
