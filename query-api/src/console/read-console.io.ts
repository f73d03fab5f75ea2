import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Fault } from '@pm/kit/fault';
import { type ConsoleFile, type ConsoleFiles, consoleFile, contentTypeOf } from './console-file.ts';

/** More than this is not the folder of a console. */
const filesMax = 200;
const bytesMax = 20_000_000;

/**
 * Reads the built console into memory, so that a request opens no file; an absent folder is an empty console. Throws
 * the `Fault` `console_too_large` (stop) when the folder is something else.
 */
export async function readConsole(folder: string): Promise<ConsoleFiles> {
  const files = new Map<string, ConsoleFile>();
  let bytesRead = 0;
  for (const path of await pathsIn(folder)) {
    const contentType = contentTypeOf(path);
    if (contentType === null) continue;
    const bytes = await readFile(path);
    bytesRead += bytes.length;
    if (files.size >= filesMax || bytesRead > bytesMax) {
      throw new Fault('console_too_large', 'stop', { facts: { folder } });
    }
    const name = relative(folder, path).split(sep).join('/');
    files.set(name, consoleFile(contentType, bytes, gzipSync(bytes, { level: 9 })));
  }
  return files;
}

async function pathsIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
