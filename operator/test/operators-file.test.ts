import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hashOfToken } from '@pm/domain/operators/operators';
import { silentLog } from '@pm/kit/log';
import { Operators } from '../src/operators.io.ts';

let folder: string;
let file: string;
let opened: Operators | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'operators-'));
  file = join(folder, 'operators.json');
});
afterEach(async () => {
  await opened?.close();
  opened = null;
  rmSync(folder, { recursive: true, force: true });
});

const entry = (name: string) => ({ name, roles: ['viewer'], tokenSha256: hashOfToken(name) });
const write = (value: unknown) => writeFileSync(file, JSON.stringify(value), { mode: 0o600 });
const clock = { nowMs: () => 0 };
const open = async () => {
  opened = await Operators.open(file, { clock, log: silentLog, pollMs: 10 });
  return opened;
};

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !isSo(); tries += 1) await wait(10);
  expect(isSo()).toBe(true);
}

test('operators are added and removed without a restart', async () => {
  write({ operators: [entry('ann')] });
  const operators = await open();
  expect(operators.find('ann')).toMatchObject({ name: 'ann' });
  expect(operators.find('ben')).toBeNull();
  write({ operators: [entry('ben')] });
  await until(() => operators.find('ann') === null);
  expect(operators.find('ben')).toMatchObject({ name: 'ben' });
});

test('a file that breaks admits no operator until it is mended', async () => {
  write({ operators: [entry('ann')] });
  const operators = await open();
  writeFileSync(file, '{"operators": [');
  await until(() => operators.find('ann') === 'unreadable');
  rmSync(file);
  await wait(30);
  expect(operators.find('ann')).toBe('unreadable');
  write({ operators: [entry('ann')] });
  await until(() => operators.find('ann') !== 'unreadable');
  expect(operators.find('ann')).toMatchObject({ name: 'ann' });
});

test.each([
  ['is not JSON', 'x'],
  ['an unknown role', { operators: [{ ...entry('ann'), roles: ['king'] }] }],
  ['no role', { operators: [{ ...entry('ann'), roles: [] }] }],
  ['a token that is not hashed', { operators: [{ ...entry('ann'), tokenSha256: 'secret' }] }],
  ['two operators of one name', { operators: [entry('ann'), entry('ann')] }],
  ['an unknown field', { operators: [{ ...entry('ann'), token: 'x' }] }],
])('a file is refused at the start: %s', async (_why, value) => {
  if (value === 'x') writeFileSync(file, value);
  else write(value);
  await expect(open()).rejects.toMatchObject({ code: 'operators_unreadable', reaction: 'stop' });
});

test('a file that others may write is refused', async () => {
  write({ operators: [entry('ann')] });
  chmodSync(file, 0o622);
  await expect(open()).rejects.toMatchObject({ code: 'operators_unreadable' });
});
