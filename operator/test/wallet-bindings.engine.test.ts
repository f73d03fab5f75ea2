import { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import { silentLog } from '@pm/kit/log';
import type { WalletAddress } from '@pm/schemas/ids';
import { topics } from '@pm/schemas/log/topics';
import { addressOf, ownAddresses } from '../../ingress/test/owners-fixture.ts';
import { keccak } from '../../ingress/test/wallet-fixture.ts';
import { logClients } from '../../kit/test/engines.ts';
import { ownSchemas } from '../../kit/test/registry/own-schemas.ts';
import { openWalletBindings } from '../src/wallet-bindings.io.ts';

const topicPrefix = `t-owners-${process.pid}-${Date.now().toString(36)}-`;
const topic = `${topicPrefix}${topics.walletOwners.name}`;
const [owner, other] = [addressOf(0x01), addressOf(0x02)];
const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

const openClient = logClients('owners');
/** One more ingress process, as far as wallets go. */
async function openProcess() {
  const client = openClient();
  const schemas = ownSchemas();
  const topicLog = {
    client,
    records: await client.producer(),
    names: { walletOwners: topic },
    codecs: { walletOwners: await schemas.codecFor(topics.walletOwners) },
  };
  const owners = new WalletOwners(keccak, ownAddresses);
  const onFault = (fault: Error) => {
    throw fault;
  };
  const store = await openWalletBindings(topicLog, { owners, clock, log: silentLog, onFault });
  return { owners, store };
}

beforeAll(async () => {
  const admin = await openClient().admin();
  const { compacted, maxMessageBytes } = topics.walletOwners;
  const kept = { replicationFactor: 1, minInSyncReplicas: 1, retentionMs: -1 };
  await admin.ensureTopics([{ ...kept, name: topic, partitions: 1, compacted, maxMessageBytes }]);
  await admin.close();
}, 60_000);

test('processes that race for wallets agree on each owner, and so does the next one', async () => {
  const [left, right] = [await openProcess(), await openProcess()];
  const wallets = Array.from({ length: 8 }, (_one, index) => addressOf(0x40 + index));
  const outcomes = await Promise.all(
    wallets.map((wallet) =>
      Promise.all([
        left.store.bind([{ wallet, owner }], 'ann'),
        right.store.bind([{ wallet, owner: other }], 'bob'),
      ]),
    ),
  );
  for (const outcome of outcomes) expect(outcome.flat().sort()).toEqual(['bound', 'taken']);
  const expected = outcomes.map(([ofLeft]) => (ofLeft[0] === 'bound' ? owner : other));
  for (const { owners } of [left, right, await openProcess()]) {
    expect(wallets.map((wallet) => owners.ownerOf(wallet))).toEqual(expected);
  }
}, 60_000);

test('a thousand wallets are bound by one request', async () => {
  const { store, owners } = await openProcess();
  const bindings = Array.from({ length: 1_000 }, (_one, index) => ({
    wallet: `0x77${String(index).padStart(38, '0')}` as WalletAddress,
    owner,
  }));
  expect(new Set(await store.bind(bindings, 'ann'))).toEqual(new Set(['bound']));
  expect(owners.boundCount).toBeGreaterThanOrEqual(1_000);
}, 60_000);
