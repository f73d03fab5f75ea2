import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { defaultCacheDir } from '@pm/deploy/local/paths';
import { Command } from 'commander';
import { writeClientPackage } from '../packaging/client-package.ts';

/** `npm run pack:client`: the client as a package for other projects, as `npm publish` takes it. */
const command = new Command('npm run pack:client --')
  .option('--folder <folder>', 'contents of the package', join(defaultCacheDir, 'client-package'))
  .option('--to <folder>', 'where the archive is written', defaultCacheDir)
  .parse();
const { folder, to } = command.opts<{ folder: string; to: string }>();

await writeClientPackage(folder);
const packed = spawnSync('npm', ['pack', '--silent', '--pack-destination', to], {
  cwd: folder,
  encoding: 'utf8',
});
if (packed.status !== 0) throw new Error(`npm pack failed: ${packed.stderr}`);
console.log(join(to, packed.stdout.trim()));
