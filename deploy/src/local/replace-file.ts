import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Rights of a file with a secret. */
const ownerOnly = 0o600;

/**
 * Writes a file, in a folder that is made if there is none, readable by its owner only unless other rights are given.
 * Who reads it meanwhile, or after a loss of power, finds the content of before or the new one, each whole.
 */
export function replaceFile(file: string, content: string | Buffer, mode = ownerOnly): void {
  const folder = dirname(file);
  const next = `${file}.new`;
  mkdirSync(folder, { recursive: true });
  // A file left by a process that ended before the rename; this process may have no right to write to it.
  rmSync(next, { force: true });
  writeFileSync(next, content, { mode, flag: 'wx', flush: true });
  renameSync(next, file);
  syncFolder(folder);
}

function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
