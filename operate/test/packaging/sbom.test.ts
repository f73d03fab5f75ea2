import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pinnedEngines } from '@pm/deploy/local/engines/download-engines';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { Value } from 'typebox/value';
import { Sbom, withOtherParts } from '../../src/packaging/sbom.ts';

const digest = 'a'.repeat(64);
const own = { 'bom-ref': 'own@1', type: 'library', name: 'folder' };
const ofNpm: Sbom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  metadata: { component: own },
  components: [],
  dependencies: [],
};

test('a Python package has the digests of all its files and is named once', () => {
  const list = `# a list\nA_b.C==1.2 ; python_version < '3.12' \\\n    --hash=sha256:${digest} \\\n    --hash=sha256:${digest}\n`;
  const none = new Map();
  const parts = { engines: none, nodes: none, storeServer: none, requirements: [list, list] };
  const { components, metadata } = withOtherParts(ofNpm, 'name', parts);
  expect(metadata.component.name).toBe('name');
  expect(components).toMatchObject([{ name: 'a-b-c', version: '1.2', purl: 'pkg:pypi/a-b-c@1.2' }]);
  expect(components[0]?.hashes).toHaveLength(2);
});

describe('npm run sbom', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pm-sbom-'));
  const file = join(folder, 'sbom.json');
  afterAll(() => rmSync(folder, { recursive: true }));

  it('writes a bill of everything that is fetched, with a digest of each engine and Python package', () => {
    const entry = join(repositoryRoot, 'operate/dist/commands/sbom.js');
    const { status, stderr } = spawnSync(process.execPath, [entry, '--out', file], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    const bill: unknown = JSON.parse(readFileSync(file, 'utf8'));
    Value.Assert(Sbom, bill);
    const refs = bill.components.map((component) => component['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    const known = new Set([...refs, bill.metadata.component['bom-ref']]);
    const named = bill.dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]);
    expect(named.filter((ref) => !known.has(ref))).toEqual([]);
    for (const path of pinnedEngines().keys()) expect(refs).toContain(`engine:${path}`);
    for (const name of ['fastify', 'kafkajs', 'chdb'])
      expect(
        bill.components.some((component) => component.purl?.startsWith(`pkg:npm/${name}@`)),
      ).toBe(true);
    const fetched = bill.components.filter(({ purl = '' }) => !purl.startsWith('pkg:npm/'));
    expect(fetched.filter(({ hashes = [] }) => hashes.length === 0)).toEqual([]);
    expect(fetched.filter(({ purl = '' }) => purl.startsWith('pkg:pypi/')).length).toBeGreaterThan(
      50,
    );
  });
});
