import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { replaceFile } from '../replace-file.ts';
import { StackError, systemCodeOf } from '../stack-error.ts';

/** User of the local ClickHouse that may write, with the password of the writers. */
export const localWriter = 'pm_writer';

/** User of the local ClickHouse that reads for query-api, with the password of the readers. */
export const localReader = 'pm_reader';

/** User of the local ClickHouse for people, with the password of the readers. */
export const localAnalyst = 'pm_analyst';

/** Passwords of writers and readers of the local ClickHouse, or the files that have them. */
export interface ClickhousePasswords {
  readonly writers: string;
  readonly readers: string;
}

const passwordBytes = 32;
const form = /^[\w-]{20,200}$/;

/** Files with the passwords of the local ClickHouse, readable by their owner only. */
export function clickhousePasswordFiles(dataDir: string): ClickhousePasswords {
  const folder = join(resolve(dataDir), 'engines');
  return {
    writers: join(folder, 'clickhouse.password'),
    readers: join(folder, 'clickhouse-readers.password'),
  };
}

/**
 * The passwords of the local ClickHouse; made at the first start.
 *
 * @throws StackError BAD_DESCRIPTION for a file with something else.
 */
export function loadOrMakeClickhousePasswords(dataDir: string): ClickhousePasswords {
  const { writers, readers } = clickhousePasswordFiles(dataDir);
  return {
    writers: readPassword(writers) ?? makePassword(writers),
    readers: readPassword(readers) ?? makePassword(readers),
  };
}

/** That of one kind of users of a stack that runs; null where its engines are of another installation. */
export function readClickhousePassword(
  dataDir: string,
  of: keyof ClickhousePasswords,
): string | null {
  return readPassword(clickhousePasswordFiles(dataDir)[of]);
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
