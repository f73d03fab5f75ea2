import { join } from 'node:path';
import { defaultCacheDir } from '@pm/deploy/local/paths';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { writeClientPackage } from '../packaging/client-package.ts';
import { writeMcpPackage } from '../packaging/mcp-package.ts';
import { packFolder } from '../packaging/package-folder.ts';

/** `npm run pack:client` and `npm run pack:mcp`: packages for other projects, as `npm publish` takes them. */
const writers = { client: writeClientPackage, mcp: writeMcpPackage } as const;
type PackageName = keyof typeof writers;

function httpsAddress(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text;
  throw new InvalidArgumentError('an address that begins with https:// is needed');
}

const command = new Command('npm run pack:client (or pack:mcp) --')
  .addArgument(new Argument('<package>', 'what is packed').choices(Object.keys(writers)))
  .option('--folder <folder>', 'contents of the package; default .cache/<package>-package')
  .option('--to <folder>', 'where the archive is written', defaultCacheDir)
  .option(
    '--repository <address>',
    'public repository of the sources: a registry checks the provenance of a release by it',
    httpsAddress,
  )
  .parse();
const options = command.opts<{ folder?: string; to: string; repository?: string }>();
const name = command.args[0] as PackageName;

const folder = options.folder ?? join(defaultCacheDir, `${name}-package`);
await writers[name](folder, { repository: options.repository ?? null });
console.log(packFolder(folder, options.to));
