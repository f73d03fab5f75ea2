import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Fault } from '../fault/index.ts';
import { assertFolderName, assertObjectName, isObjectEntry, objectLimits } from './names.ts';
import type { ObjectStore } from './object-store.io.ts';

/** The part of `node:fs/promises` that is used; tests have a disk that fails. */
export interface FolderFiles {
  mkdir(path: string, options: { recursive: true }): Promise<unknown>;
  open(path: string, flags: string): Promise<Pick<FileHandle, 'write' | 'sync' | 'close'>>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { force: true }): Promise<void>;
  readdir(path: string): Promise<string[]>;
  readFile(path: string): Promise<Buffer>;
}

/** Ending of a file that is being written. */
const unfinishedSuffix = '.tmp';

/**
 * Objects as files of a folder. A file has its name only once all its bytes are on the disk: temporary name, fsync,
 * rename, fsync of the folder.
 */
export class FolderStore implements ObjectStore {
  readonly #root: string;
  readonly #files: FolderFiles;
  /** Several processes may write into one folder, also from containers, where numbers of processes are the same. */
  readonly #id = randomUUID();
  #temporaries = 0;

  constructor(root: string, files: FolderFiles) {
    this.#root = root;
    this.#files = files;
  }

  async put(name: string, parts: readonly Buffer[]): Promise<void> {
    assertObjectName(name);
    assertSize(name, parts);
    const path = this.pathOf(name);
    const folder = dirname(path);
    this.#temporaries += 1;
    const temporary = `${path}.${this.#id}-${this.#temporaries}${unfinishedSuffix}`;
    try {
      await this.#files.mkdir(folder, { recursive: true });
      await this.#writeThrough(temporary, parts);
      await this.#files.rename(temporary, path);
      await this.#syncFolder(folder);
    } catch (error) {
      await this.#files.rm(temporary, { force: true }).catch(() => {});
      throw failed('put', name, error);
    }
  }

  async get(name: string): Promise<Buffer | null> {
    assertObjectName(name);
    try {
      return await this.#files.readFile(this.pathOf(name));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw failed('get', name, error);
    }
  }

  async list(folder: string): Promise<readonly string[]> {
    const names = (await this.#entries(folder))
      .filter((entry) => isObjectEntry(entry) && !entry.endsWith(unfinishedSuffix))
      .map((entry) => folder + entry)
      .sort();
    if (names.length <= objectLimits.listedMax) return names;
    throw new Fault('too_many_objects', 'skip', { facts: { folder, found: names.length } });
  }

  async delete(name: string): Promise<void> {
    assertObjectName(name);
    await this.#files.rm(this.pathOf(name), { force: true }).catch((error: unknown) => {
      throw failed('delete', name, error);
    });
  }

  close(): void {}

  /** Where the bytes of an object are. */
  pathOf(name: string): string {
    return join(this.#root, name);
  }

  /** Removes unfinished files of a killed process. If its writer still runs, its rename fails and is reported there. */
  async dropUnfinished(folder: string): Promise<void> {
    for (const entry of await this.#entries(folder).catch(() => [])) {
      if (!entry.endsWith(unfinishedSuffix)) continue;
      await this.#files.rm(this.pathOf(folder + entry), { force: true }).catch(() => {});
    }
  }

  async #entries(folder: string): Promise<readonly string[]> {
    assertFolderName(folder);
    try {
      return await this.#files.readdir(this.pathOf(folder.slice(0, -1)));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw failed('list', folder, error);
    }
  }

  async #writeThrough(path: string, parts: readonly Buffer[]): Promise<void> {
    const file = await this.#files.open(path, 'w');
    try {
      for (const part of parts) {
        for (let done = 0; done < part.length; ) {
          done += (await file.write(part, done)).bytesWritten;
        }
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #syncFolder(folder: string): Promise<void> {
    const handle = await this.#files.open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

/** Throws `object_too_large` (skip). */
export function assertSize(name: string, parts: readonly Buffer[]): void {
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  if (bytes > objectLimits.bytesMax)
    throw new Fault('object_too_large', 'skip', { facts: { name, bytes } });
}

function codeOf(error: unknown): string {
  return String(Reflect.get(Object(error), 'code') ?? '');
}

function failed(call: string, name: string, cause: unknown): Fault {
  const reason = codeOf(cause) || 'unknown';
  return new Fault('store_failed', 'retry', { facts: { call, name, reason }, cause });
}
