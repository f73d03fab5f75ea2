import type { FileHandle } from 'node:fs/promises';
import { Fault, within } from '@pm/kit/fault';
import type { FolderFiles } from '@pm/kit/objects';

export interface FileLimits {
  /** Calls at once, of all partitions: fewer than the four threads that checks of signatures and look-ups share. */
  readonly callsMax: number;
  /** Longest wait of a call, for its turn and for its end; that of reading a whole file is `readMs`. */
  readonly callMs: number;
  readonly readMs: number;
}

const defaultFileLimits: FileLimits = { callsMax: 2, callMs: 10_000, readMs: 60_000 };

/** Whether a call on the disk has not ended in time. */
export function isLateFile(error: unknown): boolean {
  if (error instanceof Fault && error.code === 'file_late') return true;
  return error instanceof Error && error.cause !== undefined && isLateFile(error.cause);
}

/**
 * Files of a disk that may hang, as a network file system does. Every call has a time limit. One that hangs keeps its
 * place, so that hung calls never take all threads of the process: then further calls fail with `file_late` (retry).
 */
export class BoundedFiles implements FolderFiles {
  readonly #files: FolderFiles;
  readonly #limits: FileLimits;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(files: FolderFiles, limits: FileLimits = defaultFileLimits) {
    this.#files = files;
    this.#limits = limits;
  }

  mkdir(path: string, options: { recursive: true }): Promise<unknown> {
    return this.#run('mkdir', () => this.#files.mkdir(path, options));
  }

  async open(path: string, flags: string): Promise<Pick<FileHandle, 'write' | 'sync' | 'close'>> {
    const opening = this.#run('open', () => this.#files.open(path, flags));
    const file = await opening;
    const write = (part: Buffer, from: number) => this.#run('write', () => file.write(part, from));
    return {
      write: write as FileHandle['write'],
      sync: () => this.#run('sync', () => file.sync()),
      close: () => this.#run('close', () => file.close()),
    };
  }

  rename(from: string, to: string): Promise<void> {
    return this.#run('rename', () => this.#files.rename(from, to));
  }

  rm(path: string, options: { force: true }): Promise<void> {
    return this.#run('rm', () => this.#files.rm(path, options));
  }

  readdir(path: string): Promise<string[]> {
    return this.#run('readdir', () => this.#files.readdir(path));
  }

  readFile(path: string): Promise<Buffer> {
    return this.#run('readFile', () => this.#files.readFile(path), this.#limits.readMs);
  }

  async #run<T>(name: string, call: () => Promise<T>, limitMs = this.#limits.callMs): Promise<T> {
    await this.#turn(name);
    const running = call().finally(() => this.#leave());
    return await within(running, limitMs, () => late(name, limitMs));
  }

  /** A call that hangs lets nobody in; those that wait for it give up. */
  async #turn(name: string): Promise<void> {
    const { callsMax, callMs } = this.#limits;
    if (this.#running < callsMax) {
      this.#running += 1;
      return;
    }
    let enter = () => {};
    const turn = new Promise<void>((resolve) => {
      enter = resolve;
    });
    this.#waiting.push(enter);
    await within(turn, callMs, () => late(name, callMs)).catch((error: unknown) => {
      const at = this.#waiting.indexOf(enter);
      if (at >= 0) this.#waiting.splice(at, 1);
      throw error;
    });
  }

  #leave(): void {
    const enter = this.#waiting.shift();
    if (enter === undefined) this.#running -= 1;
    else enter();
  }
}

function late(call: string, limitMs: number): Fault {
  return new Fault('file_late', 'retry', { facts: { call, limitMs } });
}
