import { derivedWalletsOf } from '@pm/domain/accounts/derived-wallets';
import { Fault } from '@pm/kit/fault';
import { hexBytes, walletFromBytes } from '@pm/schemas/ids';
import { addressOf, OwnersTopic, ownerRecord } from '../../ingress/test/owners-fixture.ts';
import { keccak } from '../../ingress/test/wallet-fixture.ts';
import { openWritesMax } from '../src/wallet-bindings.io.ts';

const [wallet, owner, other] = [addressOf(0x44), addressOf(0x01), addressOf(0x02)];
const binding = { wallet, owner };

test('a binding writes one record that names its operator, and waits until it has come back', async () => {
  const topic = new OwnersTopic();
  const { store, owners } = topic.open({ nowMs: () => 77 });
  topic.isHeldUp = true;
  let results: unknown = 'open';
  const bound = store.bind([binding], 'ann').then((found) => {
    results = found;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(topic.records).toEqual([ownerRecord(wallet, owner, { boundAtMs: 77 })]);
  expect([results, owners.isOwnedBy(wallet, owner)]).toEqual(['open', false]);
  topic.goOn();
  await bound;
  expect([results, owners.isOwnedBy(wallet, owner)]).toEqual([['bound'], true]);
  expect(await store.bind([binding, { wallet, owner: other }], 'bob')).toEqual([
    'already',
    'taken',
  ]);
  expect(topic.records).toHaveLength(1);
});

test('one request has a result for each item, and one record for each wallet', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open();
  const [proxy] = derivedWalletsOf(hexBytes(owner), keccak).proxies.map(walletFromBytes);
  if (proxy === undefined) throw new Error('a proxy');
  const bindings = [
    binding,
    binding,
    { wallet, owner: other },
    { wallet: owner, owner },
    { wallet: topic.feeWallet, owner },
    { wallet: proxy, owner },
    { wallet: addressOf(0x45), owner },
  ];
  expect(await store.bind(bindings, 'ann')).toEqual([
    ...['bound', 'bound', 'taken', 'own_address', 'reserved', 'already', 'bound'],
  ]);
  expect(topic.records).toHaveLength(2);
});

test('a binding survives a restart', async () => {
  const topic = new OwnersTopic();
  expect(await topic.open().store.bind([binding], 'ann')).toEqual(['bound']);
  const { store, owners } = topic.open();
  expect(owners.boundCount).toBe(1);
  expect(await store.bind([{ wallet, owner: other }], 'ann')).toEqual(['taken']);
  expect(topic.records).toHaveLength(1);
});

test('a record that a signature wrote binds nothing, and the operator may bind the wallet to any address', async () => {
  const topic = new OwnersTopic();
  topic.records.push(ownerRecord(wallet, other, { boundBy: '' }));
  const { store, owners } = topic.open();
  expect([owners.boundCount, owners.isOwnedBy(wallet, other)]).toEqual([0, false]);
  expect(await store.bind([binding], 'ann')).toEqual(['bound']);
  expect(topic.open().owners.isOwnedBy(wallet, owner)).toBe(true);
});

test('of two processes that race the first record wins, in both and after every restart', async () => {
  for (const [first, second] of [
    [owner, other],
    [other, owner],
  ] as const) {
    const topic = new OwnersTopic();
    const [left, right] = [topic.open(), topic.open()];
    const requests = [
      left.store.bind([{ wallet, owner: first }], 'ann'),
      right.store.bind([{ wallet, owner: second }], 'bob'),
    ];
    expect(await Promise.all(requests)).toEqual([['bound'], ['taken']]);
    expect(topic.records).toHaveLength(2);
    for (const { owners } of [left, right, topic.open()])
      expect(owners.ownerOf(wallet)).toBe(first);
  }
});

test('records that do not come back in time are unconfirmed, and count when they come', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open({ waitMs: 200 });
  topic.isHeldUp = true;
  expect(await store.bind([binding], 'ann')).toBe('unconfirmed');
  topic.goOn();
  expect(await store.bind([binding], 'ann')).toEqual(['already']);
  expect(topic.records).toHaveLength(1);
});

test('a send that certainly left nothing can be tried again at once', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open({ waitMs: 60_000 });
  for (const code of ['queue_full', 'not_sent', 'partition_unknown']) {
    topic.fault = new Fault(code, 'retry');
    expect(await store.bind([binding], 'ann')).toBe('overloaded');
  }
  topic.fault = new Error('a broken assumption');
  await expect(store.bind([binding], 'ann')).rejects.toThrow('a broken assumption');
  topic.fault = null;
  expect(await store.bind([binding], 'ann')).toEqual(['bound']);
});

test('after a send with an unknown outcome the topic decides', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open({ waitMs: 200 });
  topic.fault = new Fault('send_outcome_unknown', 'release');
  expect(await store.bind([binding], 'ann')).toBe('unconfirmed');
  topic.landsAnyway = true;
  expect(await store.bind([binding], 'ann')).toEqual(['bound']);
});

test('more requests than may wait at once are refused, and the others go on', async () => {
  const topic = new OwnersTopic();
  const { store } = topic.open();
  topic.isHeldUp = true;
  const walletAt = (index: number) => addressOf(0x40 + index);
  const requests = Array.from({ length: openWritesMax }, (_one, index) =>
    store.bind([{ wallet: walletAt(index), owner }], 'ann'),
  );
  expect(await store.bind([{ wallet: walletAt(openWritesMax), owner }], 'ann')).toBe('overloaded');
  topic.goOn();
  for (const results of await Promise.all(requests)) expect(results).toEqual(['bound']);
  expect(topic.records).toHaveLength(openWritesMax);
});
