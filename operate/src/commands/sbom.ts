import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pinnedEngines } from '@pm/deploy/local/engines/download-engines';
import { pinnedStoreServer } from '@pm/deploy/local/engines/store-server';
import { pinnedNodes } from '@pm/deploy/local/node-versions';
import { defaultCacheDir, repositoryRoot } from '@pm/deploy/local/paths';
import { pythonRequirements } from '@pm/deploy/local/python-client';
import { Command } from 'commander';
import { Value } from 'typebox/value';
import { Sbom, withOtherParts } from '../packaging/sbom.ts';

/**
 * `npm run sbom`: a bill of materials (CycloneDX, JSON) of everything that the lock file, the lists of digests and the
 * lists of Python packages name. `npm sbom` writes that of npm's packages; nothing is fetched.
 */
const command = new Command('npm run sbom --')
  .option('--out <file>', 'where it is written', join(defaultCacheDir, 'sbom.cdx.json'))
  .parse();
const { out } = command.opts<{ out: string }>();

const maxBytes = 64 * 1024 * 1024;
const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--loglevel=error'];
const npm = spawnSync('npm', args, { cwd: repositoryRoot, encoding: 'utf8', maxBuffer: maxBytes });
if (npm.status !== 0) {
  console.error(`npm sbom failed:\n${npm.stderr}${npm.error?.message ?? ''}`);
  process.exit(1);
}
const published = join(repositoryRoot, 'acceptance/clients/python/requirements.txt');
const ofNpm: unknown = JSON.parse(npm.stdout);
Value.Assert(Sbom, ofNpm);
const bill = withOtherParts(ofNpm, 'prediction-exchange', {
  engines: pinnedEngines(),
  nodes: pinnedNodes(),
  storeServer: pinnedStoreServer(),
  requirements: [pythonRequirements, published].map((file) => readFileSync(file, 'utf8')),
});
const file = resolve(out);
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
console.log(`${bill.components.length} components in ${file}`);
