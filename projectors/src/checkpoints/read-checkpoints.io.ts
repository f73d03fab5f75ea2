import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  boundsOf,
  type ExecutionLog,
  ExecutionReader,
} from '@pm/domain/executions/execution-reader.io';
import { type LedgerImage, LedgerImageReader } from '@pm/domain/ledger/ledger-image';
import { Fault } from '@pm/kit/fault';
import type { MarketBook } from '../books/book.ts';
import { decodeBooks } from './book-lines.ts';
import { type CheckpointPlace, splitCheckpoint } from './checkpoint-file.ts';
import type { CheckpointKind, CheckpointObjects } from './checkpoint-objects.io.ts';

/** A checkpoint of the ledger that belongs to this log. */
export interface LedgerCheckpoint {
  readonly image: LedgerImage;
  readonly places: readonly CheckpointPlace[];
}

/** A checkpoint of the books of a partition that belongs to this log. */
export interface BooksCheckpoint {
  readonly books: ReadonlyMap<number, MarketBook>;
  readonly place: CheckpointPlace;
}

interface CheckpointsOptions {
  readonly objects: CheckpointObjects;
  /** With `checksChain`: the records before a place are compared with its chain. */
  readonly executions: ExecutionLog;
  /** Name of the topic `transfers` on the broker. */
  readonly transfersTopic: string;
}

/** Finds the newest checkpoints whose history is this log. Rejects with the faults of the store and of the log. */
export class Checkpoints {
  readonly #options: CheckpointsOptions;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
  }

  /** Null when there is none that can be used. */
  ledger(): Promise<LedgerCheckpoint | null> {
    return this.#newest('ledger', async (content) => {
      const { places, body } = splitCheckpoint(content);
      const whys = await Promise.all(places.map((place) => this.#whyOther(place)));
      const why = whys.find((one) => one !== null);
      if (why !== undefined) return why;
      const reader = new LedgerImageReader();
      for (const _ of reader.read(body)) await nextTurn();
      const { image } = reader;
      return (await this.#whyOtherTransfers(image)) ?? { image, places };
    });
  }

  /** Null when there is none that can be used. */
  books(partition: number): Promise<BooksCheckpoint | null> {
    return this.#newest(`books/p${partition}`, async (content) => {
      const { places, body } = splitCheckpoint(content);
      const [place] = places;
      if (place === undefined || place.partition !== partition) return 'of another partition';
      return (await this.#whyOther(place)) ?? { books: decodeBooks(body), place };
    });
  }

  async #newest<T>(
    kind: CheckpointKind,
    read: (content: Buffer) => Promise<T | string>,
  ): Promise<T | null> {
    const { objects } = this.#options;
    for await (const { records, content } of objects.newestFirst(kind)) {
      const found = await read(content).catch((error: unknown) => {
        if (error instanceof Fault && error.code === 'checkpoint_unreadable') return error.message;
        throw error;
      });
      if (typeof found !== 'string') return found;
      objects.refuse(kind, records, found);
    }
    return null;
  }

  /** Why a place is none of this log; null when the record before it is there and is the one that it says. */
  async #whyOther({
    partition,
    offset,
    nextInOffset,
    chain,
  }: CheckpointPlace): Promise<string | null> {
    const { executions } = this.#options;
    if (offset === 0) return null;
    const { low, high } = await boundsOf(executions, partition);
    if (offset > high) return 'ahead of the log';
    if (offset <= low) return 'older than the log';
    const reader = await ExecutionReader.open(executions, partition, offset);
    const isSame = reader.nextInOffset === nextInOffset && reader.chain?.toString('hex') === chain;
    return isSame ? null : 'of another history than the log';
  }

  async #whyOtherTransfers({ places }: LedgerImage): Promise<string | null> {
    const { executions, transfersTopic: topic } = this.#options;
    const offset = places.find((place) => place.topic === 'transfers')?.offset ?? 0;
    const { low, high } = await boundsOf({ client: executions.client, topic }, 0);
    if (offset > high) return 'ahead of the transfers';
    return offset < low ? 'older than the transfers' : null;
  }
}
