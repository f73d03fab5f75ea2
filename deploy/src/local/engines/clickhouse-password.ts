import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { replaceFile } from '../replace-file.ts';
import { StackError, systemCodeOf } from '../stack-error.ts';

/** User of the local ClickHouse that may write, with the password of the data folder. */
export const localWriter = 'pm_writer';

const passwordBytes = 32;
const form = /^[\w-]{20,200}$/;

/** File with the password of the writers of the local ClickHouse. */
export function clickhousePasswordFile(dataDir: string): string {
  return join(resolve(dataDir), 'engines', 'clickhouse.password');
}

/**
 * The password of the writers of the local ClickHouse; made at the first start, readable by its owner only.
 *
 * @throws StackError BAD_DESCRIPTION for a file with something else.
 */
export function loadOrMakeClickhousePassword(dataDir: string): string {
  const file = clickhousePasswordFile(dataDir);
  return readPassword(file) ?? makePassword(file);
}

/** The same, of a stack that runs; null where its engines are of another installation. */
export function readClickhousePassword(dataDir: string): string | null {
  return readPassword(clickhousePasswordFile(dataDir));
}

function readPassword(file: string): string | null {
  try {
    const password = readFileSync(file, 'utf8').trim();
    if (form.test(password)) return password;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
  throw new StackError('BAD_DESCRIPTION', `${file} has no password: delete it, and start again`);
}

function makePassword(file: string): string {
  const password = randomBytes(passwordBytes).toString('base64url');
  replaceFile(file, `${password}\n`);
  return password;
}
