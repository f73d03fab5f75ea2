import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientManifest, clientPackageName, portable } from '../../src/packaging/client-package.ts';

const root = join(__dirname, '../../..');
const manifestOf = (room: string) =>
  JSON.parse(readFileSync(join(root, room, 'package.json'), 'utf8'));

test('the package has exact versions, and nothing of this repository', () => {
  const manifest = clientManifest(manifestOf('client'), manifestOf('schemas'));
  expect(manifest.name).toBe(clientPackageName);
  for (const version of Object.values(manifest.dependencies)) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  }
  expect(JSON.stringify(manifest)).not.toMatch(/@pm\/|workspace|https?:|private/);
});

test('declarations name neither rooms of the workspace nor sources', () => {
  const text = [
    "import { type ApiKeyTrio } from '@pm/schemas';",
    "export type { Signer } from './wallet.ts';",
    'export declare function bytes(id: string): Buffer;',
    '//# sourceMappingURL=index.d.ts.map',
    '',
  ].join('\n');
  expect(portable(text, '../schemas/index.js').split('\n')).toEqual([
    "import { type ApiKeyTrio } from '../schemas/index.js';",
    "export type { Signer } from './wallet.js';",
    'export declare function bytes(id: string): Uint8Array;',
    '',
  ]);
});
