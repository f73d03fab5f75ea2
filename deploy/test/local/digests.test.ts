import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDigests, requireDigests } from '../../src/local/engines/digests.ts';
import { deployRoot } from '../../src/local/paths.ts';

/** SHA-256 of `abc` (FIPS 180-2, B.1). */
const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pm-digests-'));
  mkdirSync(join(folder, 'kafka'));
  writeFileSync(join(folder, 'kafka', 'a.jar'), 'abc');
});
afterEach(() => rmSync(folder, { recursive: true }));

const wanted = parseDigests(`# a list\n${abc}  kafka/a.jar\n`);

test('files that are as the list says pass', async () => {
  await requireDigests(folder, wanted);
});

test.each([
  ['another content', () => writeFileSync(join(folder, 'kafka', 'a.jar'), 'abd'), 'kafka/a.jar is'],
  [
    'a file beside them',
    () => writeFileSync(join(folder, 'kafka', 'b.jar'), ''),
    'b.jar is not exp',
  ],
  ['a missing file', () => rmSync(join(folder, 'kafka', 'a.jar')), 'a.jar is missing'],
])('%s is refused by name', async (_what, change, text) => {
  change();
  const refused = { code: 'FETCH_FAILED', message: expect.stringContaining(text) };
  await expect(requireDigests(folder, wanted)).rejects.toMatchObject(refused);
});

test('a line that is no digest is refused', () => {
  expect(() => parseDigests('abc  kafka/a.jar')).toThrow('not a line of sha256sum');
});

test('the list names Kafka, the registry and a Redis for each platform', () => {
  const digests = parseDigests(readFileSync(join(deployRoot, 'local/engines.sha256'), 'utf8'));
  const paths = [...digests.keys()];
  expect(paths).toContain('registry.tar.gz');
  expect(paths.filter((path) => path.startsWith('kafka/kafka_'))).toHaveLength(1);
  for (const platform of ['linux-amd64', 'linux-arm64', 'darwin-amd64', 'darwin-arm64'])
    expect(paths.filter((path) => path.endsWith(`-${platform}`))).toHaveLength(1);
});
