import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../local/paths.ts';

/** `npm run bench:<name> -- ...`: runs one benchmark in a process of its own and ends with its code. */
const folder = join(repositoryRoot, 'bench/dist');
const [name = '', ...args] = process.argv.slice(2);
const entry = join(folder, `${name}.js`);

if (!/^[a-z]+$/.test(name) || !existsSync(entry)) {
  const names = existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => /^[a-z]+\.js$/.test(file))
        .map((file) => file.slice(0, -3))
    : [];
  console.error(`no benchmark is named ${JSON.stringify(name)}; there are: ${names.join(', ')}`);
  process.exit(2);
}

const child = spawn(process.execPath, [entry, ...args], { stdio: 'inherit' });
// The terminal's Ctrl-C reaches both; the benchmark stops what it started and decides the code.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.once('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
