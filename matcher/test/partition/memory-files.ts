import { basename, dirname } from 'node:path';
import type { FolderFiles } from '@pm/kit/objects';

/** Steps of a snapshot write at which a disk may fail or the process may die. */
export const fileSteps = ['mkdir', 'open', 'write', 'sync', 'rename', 'sync_folder'] as const;
export type FileStep = (typeof fileSteps)[number];

/** A disk in memory. `before` is called at each step and may throw; a dead process changes nothing any more. */
export class MemoryFiles implements FolderFiles {
  readonly contents = new Map<string, Buffer>();
  before: (step: FileStep) => void = () => {};
  /** Nothing reaches the disk any more: the process is gone. */
  dead = false;

  names(folder: string): string[] {
    const paths = [...this.contents.keys()].filter((path) => dirname(path) === folder);
    return paths.map((path) => basename(path));
  }

  async mkdir(): Promise<void> {
    this.#step('mkdir');
  }

  async open(path: string, flags: string) {
    const isFolder = flags === 'r';
    if (!isFolder) this.#step('open');
    if (!isFolder) this.contents.set(path, Buffer.alloc(0));
    const write = async (part: Buffer, from: number) => {
      // Half of it at a time, so that every write takes several steps.
      const bytesWritten = Math.max(1, Math.ceil((part.length - from) / 2));
      const done = this.contents.get(path) ?? Buffer.alloc(0);
      this.contents.set(path, Buffer.concat([done, part.subarray(from, from + bytesWritten)]));
      this.#step('write');
      return { bytesWritten, buffer: part };
    };
    const sync = async () => this.#step(isFolder ? 'sync_folder' : 'sync');
    return { write, sync, close: async () => {} } as unknown as Awaited<
      ReturnType<FolderFiles['open']>
    >;
  }

  async rename(from: string, to: string): Promise<void> {
    this.#step('rename');
    const bytes = this.contents.get(from);
    if (bytes === undefined) throw new Error(`ENOENT: ${from}`);
    this.contents.delete(from);
    this.contents.set(to, bytes);
  }

  async rm(path: string): Promise<void> {
    if (this.dead) throw new Error('dead');
    this.contents.delete(path);
  }

  async readdir(folder: string): Promise<string[]> {
    return [...this.names(folder)];
  }

  async readFile(path: string): Promise<Buffer> {
    const bytes = this.contents.get(path);
    if (bytes === undefined) throw new Error(`ENOENT: ${path}`);
    return Buffer.from(bytes);
  }

  #step(step: FileStep): void {
    if (this.dead) throw new Error('dead');
    this.before(step);
  }
}
