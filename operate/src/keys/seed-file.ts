import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { StackError } from '@pm/deploy/local/stack-error';

const hex32 = /^[0-9a-f]{64}$/;

/**
 * The seed in a file, as hex text; made when there is no file, readable by its owner only. Throws a `StackError` for a
 * file of another content.
 */
export function loadOrMakeSeed(file: string): string {
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  }
  const seed = readFileSync(file, 'utf8').trim();
  if (hex32.test(seed)) return seed;
  throw new StackError('BAD_DESCRIPTION', `${file} is not a seed of 64 hex digits`);
}
