import { Fault } from '@pm/kit/fault';
import type { ObjectStore } from '@pm/kit/objects';

/** A store in memory, which may be away, as a whole or for one kind of call. */
export class MemoryObjects implements ObjectStore {
  readonly contents = new Map<string, Buffer>();
  isAway: boolean | 'get' = false;

  async put(name: string, parts: readonly Buffer[]): Promise<void> {
    this.#require('put');
    this.contents.set(name, Buffer.concat([...parts]));
  }

  async get(name: string): Promise<Buffer | null> {
    this.#require('get');
    return this.contents.get(name) ?? null;
  }

  async list(folder: string): Promise<readonly string[]> {
    this.#require('list');
    const names = [...this.contents.keys()].filter(
      (name) => name.startsWith(folder) && !name.slice(folder.length).includes('/'),
    );
    return names.sort();
  }

  async delete(name: string): Promise<void> {
    this.#require('delete');
    this.contents.delete(name);
  }

  close(): void {}

  #require(call: string): void {
    if (this.isAway === true || this.isAway === call)
      throw new Fault('store_failed', 'retry', { facts: { call } });
  }
}
