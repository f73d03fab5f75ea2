import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@pm/kit/log';
import { PartitionFeed } from './partition-feed.ts';
import { decodeState, encodeState } from './state-image.ts';

/** Files kept per partition. */
export const statesKept = 2;
/** Bytes that are hashed and written at a time: some milliseconds, then other work has its chance. */
const sliceBytes = 1_048_576;

const finishedName = /^(\d{1,16})\.feed$/;
const suffix = '.feed';
const unfinishedSuffix = '.tmp';

/**
 * States of partitions as files, `<directory>/p<partition>/<next input offset>.feed`. A file has its name only once all
 * its bytes are on the disk. The log is the only truth: failures here are logged, and cost a longer fold at the next
 * start. The directory belongs to one process.
 */
export class StateFiles {
  readonly #directory: string;
  readonly #log: Log;

  constructor(directory: string, log: Log) {
    this.#directory = directory;
    this.#log = log;
  }

  /**
   * Writes the state of this moment; the fold may go on meanwhile. One call at a time per partition. False when it was
   * not written. Never rejects.
   */
  async save(feed: PartitionFeed): Promise<boolean> {
    const { partition } = feed;
    const nextInOffset = feed.progress.inOffset + 1;
    try {
      await this.#write(feed, this.#path(partition, nextInOffset));
      await this.#dropOld(partition);
      return true;
    } catch (error) {
      const facts = { partition, nextInOffset, err: error };
      this.#log.error(facts, 'the state of a feed was not written');
      return false;
    }
  }

  /** The sound states, newest first; of each wrong file one line is logged, and it is passed over. */
  async *newestFirst(partition: number): AsyncGenerator<PartitionFeed> {
    await this.#dropUnfinished(partition);
    for (const nextInOffset of await this.#offsets(partition)) {
      const found = await this.#read(partition, nextInOffset);
      if (typeof found !== 'string') yield found;
      else this.#log.error({ partition, nextInOffset, reason: found }, 'a state is not used');
    }
  }

  /** Removes all states of a partition: they belong to another log, or the fold found them wrong. */
  async drop(partition: number): Promise<void> {
    for (const nextInOffset of await this.#offsets(partition))
      await rm(this.#path(partition, nextInOffset), { force: true }).catch(() => {});
  }

  async #write(feed: PartitionFeed, path: string): Promise<void> {
    const temporary = `${path}.${randomUUID()}${unfinishedSuffix}`;
    const frozen = feed.freeze();
    try {
      // No wait between freezing and encoding: markets are the fold's own.
      const parts = encodeState(frozen);
      await mkdir(this.#folder(feed.partition), { recursive: true });
      await writeHashed(temporary, parts);
      await rename(temporary, path);
      await syncFolder(this.#folder(feed.partition));
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw error;
    } finally {
      feed.thaw();
    }
  }

  async #read(partition: number, nextInOffset: number): Promise<PartitionFeed | string> {
    try {
      const bytes = await readFile(this.#path(partition, nextInOffset));
      const state = decodeState(bytes, { partition, nextInOffset });
      return typeof state === 'string' ? state : new PartitionFeed(partition, state);
    } catch (error) {
      return `unreadable: ${error instanceof Error ? error.message : 'unknown'}`;
    }
  }

  async #dropOld(partition: number): Promise<void> {
    for (const nextInOffset of (await this.#offsets(partition)).slice(statesKept))
      await rm(this.#path(partition, nextInOffset), { force: true });
  }

  /** Removes unfinished files of a killed process. */
  async #dropUnfinished(partition: number): Promise<void> {
    const folder = this.#folder(partition);
    for (const name of await this.#names(partition))
      if (name.endsWith(unfinishedSuffix))
        await rm(join(folder, name), { force: true }).catch(() => {});
  }

  /** Offsets of the finished files, newest first. */
  async #offsets(partition: number): Promise<readonly number[]> {
    const names = await this.#names(partition);
    const offsets = names.flatMap((name) => {
      const [, digits] = finishedName.exec(name) ?? [];
      return digits === undefined ? [] : [Number(digits)];
    });
    return offsets.sort((one, other) => other - one);
  }

  async #names(partition: number): Promise<readonly string[]> {
    return readdir(this.#folder(partition)).catch(() => []);
  }

  #folder(partition: number): string {
    return join(this.#directory, `p${partition}`);
  }

  #path(partition: number, nextInOffset: number): string {
    return join(this.#folder(partition), nextInOffset + suffix);
  }
}

/** Writes parts and their SHA-256 in slices, through to the disk. */
async function writeHashed(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const hash = createHash('sha256');
  const file = await open(path, 'w');
  try {
    for (const part of parts) {
      for (let from = 0; from < part.length; from += sliceBytes) {
        const slice = part.subarray(from, from + sliceBytes);
        hash.update(slice);
        await file.writeFile(slice);
      }
    }
    await file.writeFile(hash.digest());
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
