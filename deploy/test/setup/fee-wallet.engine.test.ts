import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { WalletAddress } from '@pm/schemas/ids';
import { topics } from '@pm/schemas/log/topics';
import { engineUrls, setUpNamed } from '../../../acceptance/test/services-under-test.ts';
import { feeWalletOf, readOpenings } from '../../src/installation/fee-wallet.ts';
import { installationKeys } from '../../src/installation/identity.ts';
import { logPlaceOf } from '../../src/installation/open.ts';
import { loadOrMakeKeys } from '../../src/setup/keys.ts';

const name = `fee_wallet_${process.pid}`;
const topicPrefix = `${name}-`;
const folder = mkdtempSync(join(tmpdir(), 'fee-wallet-'));
const keys = loadOrMakeKeys(join(folder, 'keys.json'));
const [first, other] = ['ab', 'cd'].map((pair) => `0x${pair.repeat(20)}`) as [
  WalletAddress,
  WalletAddress,
];
const { kafka } = engineUrls();
const client = openLogClient({ brokers: [kafka], clientId: name, log: silentLog });

afterAll(async () => {
  await client.close();
  rmSync(folder, { recursive: true, force: true });
});

test('no new keys are made for an existing log, and a setup with other keys than its own changes nothing', async () => {
  const own = { keys, partitions: 2, feeWallet: first };
  await setUpNamed(name, own);
  const openings = () => readOpenings({ client, topicPrefix });
  const lost = join(folder, 'lost', 'keys.json');
  await expect(installationKeys(lost, openings)).rejects.toThrow('is missing, and the log belongs');
  expect(existsSync(lost)).toBe(false);
  const other = loadOrMakeKeys(join(folder, 'other', 'keys.json'));
  await expect(setUpNamed(name, { ...own, keys: other, partitions: 4 })).rejects.toThrow(
    'was opened with the key',
  );
  const admin = await client.admin();
  expect((await admin.bounds(`${topicPrefix}${topics.orders.name}`)).size).toBe(2);
  expect(await installationKeys(join(folder, 'keys.json'), openings)).toEqual(keys);
  await setUpNamed(name, own);
}, 60_000);

test('a setup with another fee wallet than that of the partitions is refused and changes nothing', async () => {
  await setUpNamed(name, { keys, partitions: 2, feeWallet: first });
  await expect(setUpNamed(name, { keys, partitions: 4, feeWallet: other })).rejects.toThrow(
    `was opened with the fee wallet ${first}`,
  );
  const admin = await client.admin();
  expect((await admin.bounds(`${topicPrefix}${topics.orders.name}`)).size).toBe(2);
  expect(await feeWalletOf(logPlaceOf(client, { topicPrefix, rootKey: keys.rootKey }))).toBe(first);
  await setUpNamed(name, { keys, partitions: 2, feeWallet: first });
}, 60_000);
