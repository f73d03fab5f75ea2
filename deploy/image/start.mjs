// Starts a program of the image: `start.mjs PROGRAM ARGUMENTS`. Its secrets come from a file that set-up makes for this
// program alone, so that no list of variables has them.
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const secrets = '/run/exchange/secrets.env';
const folder = new URL('./deploy/dist/programs/', import.meta.url);
const [name = '', ...args] = process.argv.slice(2);
const known = readdirSync(folder)
  .filter((file) => file.endsWith('.mjs') && !file.endsWith('.thread.mjs'))
  .map((file) => file.slice(0, -'.mjs'.length));
if (!known.includes(name)) {
  process.stderr.write(`no program ${name}; there are: ${known.join(', ')}\n`);
  process.exit(2);
}
if (existsSync(secrets)) process.loadEnvFile(secrets);
const program = new URL(`${name}.mjs`, folder);
process.argv = [process.execPath, fileURLToPath(program), ...args];
await import(program.href);
