import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { groupsOfProfile } from '../../src/report/profile.ts';

const folder = mkdtempSync(join(tmpdir(), 'profile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, functionName: string): void {
  const root = { id: 1, callFrame: { functionName: '(root)', url: '', lineNumber: -1 } };
  const called = { id: 2, callFrame: { functionName, url: 'file:///a/b/c.js', lineNumber: 0 } };
  const profile = {
    startTime: 1_000,
    nodes: [{ ...root, children: [2] }, called],
    samples: [2, 2, 2],
    timeDeltas: [10, 20, 40],
  };
  writeFileSync(join(folder, name), JSON.stringify(profile));
}

write('CPU.20260101.000000.77.0.001.cpuprofile', 'main');
write('CPU.20260101.000001.77.2.002.cpuprofile', 'thread');
const rules = [['ours', /c\.js$/]] as const;

test('the profile of the first thread counts, and of it the time in the window', () => {
  const { groups, functions } = groupsOfProfile(folder, { from: 1_020, to: 1_100 }, rules);
  expect(groups).toEqual([
    { name: 'ours', share: 1, seconds: 60 / 1e6 },
    { name: 'runtime and start', share: 0, seconds: 0 },
  ]);
  expect(functions[0]?.name).toBe('main (a/b/c.js)');
});

test('a window without a sample is refused', () => {
  expect(() => groupsOfProfile(folder, { from: 0, to: 1 }, rules)).toThrow('no sample');
});
