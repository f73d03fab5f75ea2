import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { mebibyte } from './managed-process.ts';

/** A log of this size is renamed at the next start of its process. */
const maxLogBytes = 8 * mebibyte;
const tailLines = 12;
/** A process that runs for long has a log of any size. */
const tailMaxBytes = 64 * 1024;

/** Opens a log to append to it, and puts a large one aside before. @returns its descriptor, and its length in bytes. */
export function openLog(logFile: string): { readonly log: number; readonly bytes: number } {
  mkdirSync(dirname(logFile), { recursive: true });
  if (existsSync(logFile) && statSync(logFile).size > maxLogBytes) {
    renameSync(logFile, `${logFile}.1`);
  }
  const log = openSync(logFile, 'a');
  return { log, bytes: fstatSync(log).size };
}

/** The last lines of a log, indented. */
export function tailOf(logFile: string): string {
  if (!existsSync(logFile)) return '  (no log)';
  const lines = textAfter(logFile, 0, tailMaxBytes).trimEnd().split('\n').slice(-tailLines);
  return lines.map((line) => `  ${line}`).join('\n');
}

/**
 * The text of a log after its first `fromBytes`, as far as it is within its last `maxBytes`; '' if it is unreadable.
 */
export function textAfter(logFile: string, fromBytes: number, maxBytes: number): string {
  try {
    const log = openSync(logFile, 'r');
    try {
      const { size } = fstatSync(log);
      const from = Math.max(fromBytes, size - maxBytes);
      const bytes = Buffer.alloc(Math.max(0, size - from));
      const read = readSync(log, bytes, 0, bytes.length, from);
      return bytes.toString('utf8', 0, read);
    } finally {
      closeSync(log);
    }
  } catch {
    return '';
  }
}
