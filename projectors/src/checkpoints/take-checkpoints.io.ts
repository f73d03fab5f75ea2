import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NumberedExecution } from '@pm/domain/executions/execution-order';
import {
  boundsOf,
  type ExecutionLog,
  ExecutionReader,
} from '@pm/domain/executions/execution-reader.io';
import { ledgerCallItemsMax } from '@pm/domain/ledger/ledger';
import { LedgerFold } from '@pm/domain/ledger/ledger-fold';
import { encodeLedgerImage } from '@pm/domain/ledger/ledger-image';
import { Fault } from '@pm/kit/fault';
import { type IncomingRecord, type RecordBatch, readRange } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { runRounds } from '@pm/kit/rounds';
import { MarketBook } from '../books/book.ts';
import { foldBooks, marketsOf } from '../books/fold.ts';
import { moneyPieces } from '../ledger/pieces.ts';
import { type TransfersLog, transfersPiece } from '../ledger/read-transfers.io.ts';
import { viewsFirstMs } from '../views-first.ts';
import { encodeBooks } from './book-lines.ts';
import { type CheckpointPlace, headOf } from './checkpoint-file.ts';
import type { CheckpointObjects } from './checkpoint-objects.io.ts';
import type { BooksCheckpoint, Checkpoints, LedgerCheckpoint } from './read-checkpoints.io.ts';

export interface CheckpointerOptions {
  readonly objects: CheckpointObjects;
  readonly checkpoints: Checkpoints;
  /** With `checksChain`. */
  readonly executions: ExecutionLog;
  readonly transfers: TransfersLog;
  /** Time between two checkpoints, milliseconds. */
  readonly everyMs: number;
  /** Wallets, transfers and markets that the memory of this process has room for. */
  readonly entriesMax: number;
  readonly log: Log;
  onTaken(): void;
  onFailed(): void;
}

/** Records of a partition in one checkpoint: on a long log the first ones come one after the other. */
const recordsPerRound = 1_000_000;
/** Pause before the next round where one did not reach the end of the log, milliseconds. */
const behindMs = 100;
/** Longest pause after a round that failed, milliseconds. */
const failedMs = 60_000;

/** Where a partition begins. */
interface PartitionStart {
  readonly partition: number;
  /** End of the log. */
  readonly high: number;
  /** Up to here the ledger has it. */
  readonly ledger: CheckpointPlace;
  readonly books: BooksCheckpoint | null;
}

/** Result of folding the next records of one partition in a round. */
interface FoldedPartition {
  /** Up to here the ledger has it. */
  readonly ledger: CheckpointPlace;
  readonly books: BooksCheckpoint;
  readonly isBehind: boolean;
}

/**
 * Takes checkpoints of the ledger and of the books: folds the log after the newest ones, in memory, with the code of
 * the views, and stores what comes of it. So a checkpoint is what the log says, whatever Redis has; nothing is asked of
 * Redis, and nothing of a round is kept for the next.
 */
export class Checkpointer {
  readonly #options: CheckpointerOptions;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
  }

  /** Takes checkpoints repeatedly until it is closed. */
  start(): { close(): Promise<void> } {
    const { everyMs, log, onFailed } = this.#options;
    return runRounds({
      firstMs: Math.min(everyMs, viewsFirstMs),
      round: async () => ((await this.take()) ? everyMs : behindMs),
      onFailure: (error) => {
        onFailed();
        log.warn({ err: error }, 'a checkpoint was not taken');
        return Math.min(everyMs, failedMs);
      },
    });
  }

  /** Takes one of each; false while they have not reached the ends that the log had. */
  async take(): Promise<boolean> {
    const { checkpoints, executions, onTaken } = this.#options;
    const ledger = await checkpoints.ledger();
    const fold = new LedgerFold(ledger?.image ?? null);
    const admin = await executions.client.admin();
    const ends = await admin.bounds(executions.topic).finally(() => admin.close());
    const places: CheckpointPlace[] = [];
    let isBehind = false;
    for (const [partition, { high }] of ends) {
      const books = await checkpoints.books(partition);
      const start = { partition, high, books, ledger: placeIn(ledger, partition) };
      const folded = await this.#foldPartition(fold, start);
      places.push(folded.ledger);
      isBehind ||= folded.isBehind;
      await this.#putBooks(folded.books);
    }
    await this.#foldTransfers(fold);
    await this.#putLedger(fold, places);
    onTaken();
    return !isBehind;
  }

  /** Both from their places on, in one pass; the earlier one begins. */
  async #foldPartition(fold: LedgerFold, start: PartitionStart): Promise<FoldedPartition> {
    const { executions } = this.#options;
    const { partition, high, ledger } = start;
    const { books: before, place: booksPlace } = start.books ?? noBooks(partition);
    const from = Math.min(ledger.offset, booksPlace.offset);
    await requireHistory(executions, partition, from);
    const to = Math.min(high, from + recordsPerRound);
    const books = new Map(before);
    const reader = await ExecutionReader.open(executions, partition, from);
    await readRange(executions.client, {
      topic: executions.topic,
      partition,
      from,
      to,
      onBatch: async ({ records }) => {
        const taken = await reader.take(records);
        this.#applyMoney(fold, partition, taken);
        for (const { offset, execution } of taken)
          if (execution !== null && offset >= booksPlace.offset) foldInto(books, execution);
        await nextTurn();
      },
    });
    const chain = reader.chain?.toString('hex') ?? null;
    const end = { partition, offset: to, nextInOffset: reader.nextInOffset, chain };
    return {
      ledger: ledger.offset > to ? ledger : end,
      books: { books, place: booksPlace.offset > to ? booksPlace : end },
      isBehind: to < high,
    };
  }

  #applyMoney(fold: LedgerFold, partition: number, taken: readonly NumberedExecution[]): void {
    const { offset: from, timeMs } = fold.placeOf('executions', partition);
    const fresh = taken.filter(({ offset }) => offset >= from);
    for (const piece of moneyPieces(fresh, ledgerCallItemsMax))
      fold.applyExecutions({ ...piece, partition, clockMs: piece.clockMs ?? timeMs });
    this.#checkSize(fold);
  }

  async #foldTransfers(fold: LedgerFold): Promise<void> {
    const { client, codec, topic } = this.#options.transfers;
    const { high: end } = await boundsOf({ client, topic }, 0);
    let { offset: from } = fold.placeOf('transfers', 0);
    const apply = async (records: readonly IncomingRecord[], to: number) => {
      fold.applyTransfers(await transfersPiece(codec, records, { from, to }));
      this.#checkSize(fold);
      from = to;
    };
    if (from >= end) return;
    // Records that are not proved are left out, whole batches of them too: their offsets count.
    const onBatch = ({ records }: Pick<RecordBatch, 'records'>) =>
      apply(records, (records.at(-1)?.offset ?? from) + 1);
    await readRange(client, { topic, partition: 0, from, to: end, onBatch });
    if (from < end) await apply([], end);
  }

  #checkSize({ size }: LedgerFold): void {
    const { entriesMax } = this.#options;
    if (size <= entriesMax) return;
    throw new Fault('checkpoint_too_large', 'skip', { facts: { size, entriesMax } });
  }

  async #putBooks({ place, books }: BooksCheckpoint): Promise<void> {
    const parts = [headOf([place]), ...encodeBooks(books)];
    await this.#options.objects.put(`books/p${place.partition}`, place.offset, parts);
  }

  async #putLedger(fold: LedgerFold, places: readonly CheckpointPlace[]): Promise<void> {
    const parts = [headOf(places)];
    for (const piece of encodeLedgerImage(fold)) {
      parts.push(piece);
      await nextTurn();
    }
    const records = fold.places.reduce((sum, { offset }) => sum + offset, 0);
    await this.#options.objects.put('ledger', records, parts);
  }
}

function foldInto(
  books: Map<number, MarketBook>,
  execution: NonNullable<NumberedExecution['execution']>,
): void {
  for (const market of marketsOf(execution))
    if (!books.has(market)) books.set(market, new MarketBook(market));
  foldBooks(books, execution);
}

const beginOf = (partition: number): CheckpointPlace => {
  return { partition, offset: 0, nextInOffset: 0, chain: null };
};

const noBooks = (partition: number): BooksCheckpoint => {
  return { books: new Map(), place: beginOf(partition) };
};

function placeIn(ledger: LedgerCheckpoint | null, partition: number): CheckpointPlace {
  return ledger?.places.find((place) => place.partition === partition) ?? beginOf(partition);
}

/** The log must have all that no checkpoint has. */
async function requireHistory(
  log: Pick<ExecutionLog, 'client' | 'topic'>,
  partition: number,
  from: number,
): Promise<void> {
  const { low } = await boundsOf(log, partition);
  if (from < low)
    throw new Fault('history_removed', 'retry', {
      facts: { topic: log.topic, partition, from, low },
    });
}
