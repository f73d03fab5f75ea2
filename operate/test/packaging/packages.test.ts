import { clientManifest, portable } from '../../src/packaging/client-package.ts';
import { mcpManifest } from '../../src/packaging/mcp-package.ts';

const manifests = [
  ['prediction-exchange-client', clientManifest],
  ['prediction-exchange-mcp', mcpManifest],
] as const;

describe.each(manifests)('%s', (name, manifestOf) => {
  test('has exact versions, and nothing of this repository', () => {
    const manifest = manifestOf({ repository: null });
    expect(manifest.name).toBe(name);
    for (const version of Object.values(manifest.dependencies)) {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    }
    expect(manifest.publishConfig.provenance).toBe(true);
    expect(JSON.stringify(manifest)).not.toMatch(/@pm\/|workspace|https?:|private/);
  });

  test('names the repository of a release', () => {
    const directory = name.split('-').at(-1);
    const url = 'git+https://example.org/a/b.git';
    for (const repository of ['https://example.org/a/b', 'https://example.org/a/b.git']) {
      expect(manifestOf({ repository })).toMatchObject({
        repository: { type: 'git', url, directory },
      });
    }
  });
});

test('declarations name neither rooms of the workspace nor sources', () => {
  const text = [
    "import { type ApiKeyTrio } from '@pm/schemas/http/keys';",
    "export type { Signer } from './wallet.ts';",
    'export declare function bytes(id: string): Buffer;',
    '//# sourceMappingURL=index.d.ts.map',
    '',
  ].join('\n');
  expect(portable(text, '../schemas').split('\n')).toEqual([
    "import { type ApiKeyTrio } from '../schemas/http/keys.js';",
    "export type { Signer } from './wallet.js';",
    'export declare function bytes(id: string): Uint8Array;',
    '',
  ]);
});
