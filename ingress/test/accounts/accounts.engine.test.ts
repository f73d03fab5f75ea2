import { bearerAgent } from '@pm/domain/accounts/agent-key';
import { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import type { Fault } from '@pm/kit/fault';
import { silentLog } from '@pm/kit/log';
import type { WalletAddress } from '@pm/schemas/ids';
import { topics } from '@pm/schemas/log/topics';
import { headers } from '@pm/schemas/signing';
import { logClients } from '../../../kit/test/engines.ts';
import { ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import { openWallets } from '../../../operator/src/open-wallets.io.ts';
import { type AccountTopic, openAccounts } from '../../src/accounts/open-accounts.io.ts';
import { addressOf, ownAddresses } from '../owners-fixture.ts';
import { RoomFake } from '../room-fixture.ts';
import { keccak, l2Signature } from '../wallet-fixture.ts';

const topicPrefix = `t-accounts-${process.pid}-${Date.now().toString(36)}-`;
const nameOf = (key: AccountTopic) => topicPrefix + topics[key].name;
const names: Readonly<Record<AccountTopic, string>> = {
  credentials: nameOf('credentials'),
  readKeys: nameOf('readKeys'),
  agents: nameOf('agents'),
  walletStatus: nameOf('walletStatus'),
  withdrawalFreezes: nameOf('withdrawalFreezes'),
  walletOwners: nameOf('walletOwners'),
  notificationMarks: nameOf('notificationMarks'),
};
const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
const [owner, other] = [addressOf(0x01), addressOf(0x02)];

const openClient = logClients('accounts');
type Process = Awaited<ReturnType<typeof openAccounts>>;

async function openTopicLog() {
  const client = openClient();
  const schemas = ownSchemas();
  const codecs = {
    credentials: await schemas.codecFor(topics.credentials),
    readKeys: await schemas.codecFor(topics.readKeys),
    agents: await schemas.codecFor(topics.agents),
    walletStatus: await schemas.codecFor(topics.walletStatus),
    withdrawalFreezes: await schemas.codecFor(topics.withdrawalFreezes),
    walletOwners: await schemas.codecFor(topics.walletOwners),
    notificationMarks: await schemas.codecFor(topics.notificationMarks),
  };
  return { client, records: await client.producer(), names, codecs };
}

const frame = () => ({
  clock,
  log: silentLog,
  owners: new WalletOwners(keccak, ownAddresses),
  onFault(fault: Fault) {
    throw fault;
  },
});

/** One more ingress process, as far as keys, agents and wallets go. */
async function openProcess(): Promise<Process> {
  return await openAccounts(await openTopicLog(), {
    ...frame(),
    secrets: { present: Buffer.alloc(32, 5), others: [] },
    freshness: { secondsMs: 300_000, millisecondsMs: 30_000 },
    entryQuota: new RoomFake(),
  });
}

async function until(condition: () => boolean): Promise<void> {
  const endsAtMs = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > endsAtMs) throw new Error('it never came');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

beforeAll(async () => {
  const admin = await openClient().admin();
  const kept = { replicationFactor: 1, minInSyncReplicas: 1, retentionMs: -1, partitions: 1 };
  await admin.ensureTopics(
    (Object.keys(names) as AccountTopic[]).map((key) => {
      const { compacted, maxMessageBytes } = topics[key];
      return { ...kept, name: names[key], compacted, maxMessageBytes };
    }),
  );
  await admin.close();
}, 60_000);

/** Whether the key proves a request here. */
function opens(
  ingress: Process,
  wallet: WalletAddress,
  trio: { apiKey: string; secret: string; passphrase: string },
) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const request = { method: 'DELETE', url: '/cancel-all', body: Buffer.alloc(0) };
  return ingress.verify({
    ...request,
    headers: {
      [headers.address.toLowerCase()]: wallet,
      [headers.apiKey.toLowerCase()]: trio.apiKey,
      [headers.passphrase.toLowerCase()]: trio.passphrase,
      [headers.timestamp.toLowerCase()]: timestamp,
      [headers.signature.toLowerCase()]: l2Signature(trio.secret, `${timestamp}DELETE/cancel-all`),
    },
  });
}

const agentOf = (ingress: Process, key: string) =>
  bearerAgent({ authorization: `Bearer ${key}` }, ingress.agentDirectory);

test('keys, agents and what wallets may do reach the next process and outlive all of them', async () => {
  const [left, right] = [await openProcess(), await openProcess()];
  const made = await left.keys.create(owner, '0');
  const gone = await left.keys.create(owner, '1');
  if ('max' in made || 'max' in gone) throw new Error('there is room');
  await left.keys.setSelfTrade(owner, made.apiKey as never, 'CANCEL_BOTH');
  await left.keys.revokeNonce(owner, '1');
  const readKey = String(await left.readOnlyKeys.create(owner));
  const deletedKey = String(await left.readOnlyKeys.create(owner));
  await left.readOnlyKeys.delete(owner, deletedKey as never);
  const [first, second, third] = await Promise.all(
    ['one', 'two', 'three'].map(async (name) => {
      const agent = await left.agents.create(owner, name);
      if ('max' in agent) throw new Error('there is room');
      return agent;
    }),
  );
  if (first === undefined || second === undefined || third === undefined) throw new Error('three');
  const rotated = await left.agents.rotate(owner, first.agent.id);
  await left.agents.setStatus(owner, second.agent.id, 'PAUSED');
  await left.agents.delete(owner, third.agent.id);
  await left.agents.noteSeen(new Map([[first.agent.id, 123_000]]));
  const operator = await openWallets(await openTopicLog(), frame());
  await operator.write.status.set(other, { status: 'BANNED', reason: 'a test' });

  await until(() => right.walletStatus.of(other) === 'BANNED');
  await until(() => (right.agentDirectory.find(first.agent.id)?.lastActiveAtMs ?? 0) > 0);
  await until(() => right.keys.list(owner, 'TRADING').some(({ active }) => !active));
  await until(
    () =>
      !right.readOnlyKeys.isValid(owner, deletedKey) && right.readOnlyKeys.isValid(owner, readKey),
  );
  for (const ingress of [left, right, await openProcess()]) {
    expect(opens(ingress, owner, made)).toMatchObject({ selfTrade: 'CANCEL_BOTH', wallet: owner });
    expect(opens(ingress, owner, gone)).toBeNull();
    expect(ingress.readOnlyKeys.list(owner)).toEqual([readKey]);
    expect(ingress.readOnlyKeys.isValid(owner, deletedKey)).toBe(false);
    expect(agentOf(ingress, first.key)).toBeNull();
    expect(agentOf(ingress, rotated?.key ?? '')).toMatchObject({
      name: 'one',
      lastActiveAtMs: 123_000,
    });
    expect(agentOf(ingress, second.key)).toBeNull();
    expect(agentOf(ingress, third.key)).toBeNull();
    expect(
      ingress.agents
        .list(owner)
        .map(({ name, status }) => [name, status])
        .sort(),
    ).toEqual([
      ['one', 'ACTIVE'],
      ['two', 'PAUSED'],
    ]);
    expect(ingress.walletStatus.find(other)).toMatchObject({ status: 'BANNED', reason: 'a test' });
    expect(ingress.walletStatus.of(owner)).toBe('NORMAL');
  }
}, 90_000);

test('a key that one process revokes ends in another while that one uses it', async () => {
  const [left, right] = [await openProcess(), await openProcess()];
  const trio = await right.keys.create(owner, '77');
  if ('max' in trio) throw new Error('there is room');
  await until(() => opens(left, owner, trio) !== null);
  await left.keys.revokeNonce(owner, '77');
  expect(opens(left, owner, trio)).toBeNull();
  const revokedAtMs = Date.now();
  await until(() => opens(right, owner, trio) === null);
  expect(Date.now() - revokedAtMs).toBeLessThan(5_000);
  const next = await right.keys.create(owner, '77');
  if ('max' in next) throw new Error('there is room');
  expect(next.secret).not.toBe(trio.secret);
  await until(() => opens(left, owner, next) !== null);
  for (const ingress of [left, right, await openProcess()]) {
    expect(opens(ingress, owner, trio)).toBeNull();
    expect(ingress.keys.derive(owner, '77')).toEqual(next);
  }
}, 60_000);
