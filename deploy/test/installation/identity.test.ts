import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandOf } from '@pm/schemas/log/orders';
import {
  installationKeys,
  refuseFreshAgainst,
  refuseOtherKeys,
} from '../../src/installation/identity.ts';
import { publicKeyOf } from '../../src/setup/keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'identity-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function openedWith(seed: string) {
  const operatorKey = Buffer.from(publicKeyOf(seed), 'hex');
  return new Map([[0, { kind: 'OpenPartition', operatorKey } as CommandOf<'OpenPartition'>]]);
}

const seeds = { own: '11'.repeat(32), other: '22'.repeat(32) };

test('keys are made for a log that was never opened, and kept', async () => {
  const file = join(folder, 'keys.json');
  const made = await installationKeys(file, async () => new Map());
  const unread = async () => {
    throw new Error('keys that are there need no look at the log');
  };
  expect(await installationKeys(file, unread)).toEqual(made);
});

test('no new keys are made for a log that was opened', async () => {
  const file = join(folder, 'lost', 'keys.json');
  const making = installationKeys(file, async () => openedWith(seeds.own));
  await expect(making).rejects.toThrow(publicKeyOf(seeds.own));
  expect(existsSync(file)).toBe(false);
});

test('no new keys are made for a log whose first records are gone', async () => {
  const file = join(folder, 'cut', 'keys.json');
  const making = installationKeys(file, async () => new Map([[0, null]]));
  await expect(making).rejects.toThrow('of a first record that is gone');
  expect(existsSync(file)).toBe(false);
});

test('a log that was opened with another key is refused', () => {
  const keys = { openingKey: publicKeyOf(seeds.own) };
  expect(() => refuseOtherKeys(openedWith(seeds.own), keys)).not.toThrow();
  expect(() => refuseOtherKeys(new Map(), keys)).not.toThrow();
  expect(() => refuseOtherKeys(openedWith(seeds.other), keys)).toThrow('partition 0 was opened');
});

test('a fresh start is refused while the log of the folder stays', () => {
  expect(() => refuseFreshAgainst(new Map())).not.toThrow();
  expect(() => refuseFreshAgainst(openedWith(seeds.own))).toThrow('Start without --fresh');
});

test('a damaged file of keys is no missing one', async () => {
  const file = join(folder, 'damaged.json');
  writeFileSync(file, '{');
  await expect(installationKeys(file, async () => new Map())).rejects.toThrow();
  expect(readFileSync(file, 'utf8')).toBe('{');
});
