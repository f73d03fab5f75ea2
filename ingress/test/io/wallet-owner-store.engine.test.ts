import { silentLog } from '@pm/kit/log';
import { openRegistry } from '@pm/kit/registry';
import { topics, type WalletAddress } from '@pm/schemas';
import { engineUrl, logClients } from '../../../kit/test/engines.ts';
import { WalletOwners } from '../../src/core/wallet-owners.ts';
import { openWalletOwners, type WalletOwnerStore } from '../../src/io/wallet-owner-store.ts';
import { addressOf } from '../owners-fixture.ts';
import { keccak } from '../wallet-fixture.ts';

const topicPrefix = `t-owners-${process.pid}-${Date.now().toString(36)}-`;
const topic = `${topicPrefix}${topics.walletOwners.name}`;
const [owner, other] = [addressOf(0x01), addressOf(0x02)];
const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

const openClient = logClients('owners');
/** One more ingress process, as far as wallets go. */
async function openProcess(): Promise<WalletOwnerStore> {
  const client = openClient();
  const registry = openRegistry({ url: engineUrl('REGISTRY'), topicPrefix, log: silentLog });
  const topicLog = {
    client,
    records: await client.producer(),
    names: { walletOwners: topic },
    codecs: { walletOwners: await registry.codecFor(topics.walletOwners) },
  };
  const owners = new WalletOwners(keccak);
  const onFault = (fault: Error) => {
    throw fault;
  };
  return await openWalletOwners(topicLog, { owners, clock, log: silentLog, onFault });
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
  const claims = wallets.map((wallet) =>
    Promise.all([left.claim(wallet, owner), right.claim(wallet, other)]),
  );
  const outcomes = await Promise.all(claims);
  for (const outcome of outcomes) {
    expect([...outcome].sort()).toEqual([null, 'signer_mismatch'].sort());
  }
  const next = await openProcess();
  const ownersBy = (store: WalletOwnerStore) =>
    Promise.all(
      wallets.map(async (wallet: WalletAddress) =>
        (await store.claim(wallet, owner)) === null ? owner : other,
      ),
    );
  const expected = outcomes.map(([ofLeft]) => (ofLeft === null ? owner : other));
  for (const store of [left, right, next]) expect(await ownersBy(store)).toEqual(expected);
}, 60_000);
