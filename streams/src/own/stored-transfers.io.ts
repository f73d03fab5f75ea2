import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  noFences,
  type StoredTransfer,
  type TransferFences,
  type TransferStore,
  TransferTotals,
} from '@pm/domain/ledger/transfer-totals';
import type { Log } from '@pm/kit/log';
import { hexBytes, type WalletAddress } from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';
import { grouped, groupOf, groups, idOf, rowBytes, rowsOf, writeRow } from './transfer-rows.ts';

/** Form of the files; another one is not read. */
const version = 1;
/** Rows of a file, and in memory unless a write fails: 5 MiB, which a start reads from the log. */
const rowsPerFile = 65_536;
/** A write that fails is tried again after this part of the rows of a file. */
const retriesPerFile = 16;
/** Files whose rows memory has at most while writes fail: 80 MiB, and about as much for their ids. */
const filesInMemoryMax = 16;
const firstRows = 1_024;
/** A file begins with its facts as JSON, then the first row of each group, then the rows. */
const headBytes = 1_024;
const firstsBytes = (groups + 1) * Uint32Array.BYTES_PER_ELEMENT;
const rowsAt = headBytes + firstsBytes;
const suffix = '.rows';

/** The newest record of a file, by which another log is known. */
export interface LastTransfer {
  readonly offset: number;
  readonly transferId: string;
  readonly wallet: string;
  readonly amountMicro: number;
  readonly timeMs: number;
  readonly generation: number;
}

interface Head {
  readonly version: number;
  /** Offset after the newest record of the file before; 0 for the first file. */
  readonly from: number;
  readonly last: LastTransfer;
  /** Transfer fences after the record `last`. */
  readonly fences: TransferFences;
  readonly rows: number;
}

/**
 * The transfers of all wallets in files of the folder of states: whole ones, each of which continues the one before,
 * and in memory the rows after them. The folder belongs to one process. The log is the only truth: what the files do
 * not have is read from it. A write that fails is logged and tried again; `taken` throws what `node:fs` throws only
 * once memory has the rows of `filesInMemoryMax` files. Other methods throw it at once.
 */
export class StoredTransfers implements TransferStore {
  readonly totals: TransferTotals;
  readonly #folder: string;
  readonly #log: Pick<Log, 'error'>;
  readonly #rowsPerFile: number;
  /** Offsets before each file. */
  readonly #files: number[] = [];
  #last: LastTransfer | null = null;
  #rows = Buffer.alloc(firstRows * rowBytes);
  #count = 0;
  /** Rows in memory at which they are written. */
  #writesAt: number;
  #newIds = new Set<string>();
  #oldIds = new Set<string>();

  constructor(directory: string, log: Pick<Log, 'error'>, rows = rowsPerFile) {
    this.#folder = join(directory, 'transfers');
    this.#log = log;
    this.#rowsPerFile = rows;
    this.#writesAt = rows;
    mkdirSync(this.#folder, { recursive: true });
    this.totals = new TransferTotals(this, this.#openFiles());
  }

  /** The newest record that is in a file; null without one. The log is read on after it. */
  get last(): LastTransfer | null {
    return this.#last;
  }

  /** Rows that are in memory. */
  get rowsInMemory(): number {
    return this.#count;
  }

  hasNewId(transferId: Buffer): boolean {
    const id = transferId.toString('latin1');
    return this.#newIds.has(id) || this.#oldIds.has(id);
  }

  append(offset: number, transfer: Transfer): void {
    const at = this.#count * rowBytes;
    if (at === this.#rows.length) this.#rows = Buffer.concat([this.#rows, Buffer.alloc(at)]);
    writeRow(this.#rows, at, offset, transfer);
    this.#newIds.add(transfer.transferId.toString('latin1'));
    this.#count += 1;
  }

  transfersOf(wallet: WalletAddress): readonly StoredTransfer[] {
    const key = hexBytes(wallet);
    const group = groupOf(key);
    const found = this.#files.flatMap((from) => [...rowsOf(this.#readGroup(from, group), key)]);
    found.push(...rowsOf(this.#rows.subarray(0, this.#count * rowBytes), key));
    return found;
  }

  /** The record was given to `totals`. The rows in memory are written once there are enough. */
  taken(offset: number, transfer: Transfer): void {
    if (this.#count < this.#writesAt) return;
    const from = this.#last === null ? 0 : this.#last.offset + 1;
    const last = lastOf(offset, transfer);
    const head: Head = { version, from, last, fences: this.totals.fences, rows: this.#count };
    try {
      this.#write(head, grouped(this.#rows.subarray(0, this.#count * rowBytes)));
    } catch (error) {
      this.#postpone(error);
      return;
    }
    this.#files.push(from);
    this.#last = last;
    this.#rows = Buffer.alloc(firstRows * rowBytes);
    this.#count = 0;
    this.#writesAt = this.#rowsPerFile;
    [this.#oldIds, this.#newIds] = [this.#newIds, new Set()];
  }

  /** A full disk may have room again: the rows stay in memory until then, as far as they may. */
  #postpone(error: unknown): void {
    if (this.#count >= filesInMemoryMax * this.#rowsPerFile) throw error;
    this.#writesAt = this.#count + Math.ceil(this.#rowsPerFile / retriesPerFile);
    const rows = this.#count;
    this.#log.error({ err: error, rows }, 'transfers cannot be stored: they stay in memory');
  }

  /** Removes everything: it is of another log. */
  drop(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Takes the files up to the first that does not continue the one before, and removes the others. */
  #openFiles(): TransferFences {
    let fences = noFences;
    const names = readdirSync(this.#folder);
    const all = names
      .filter((name) => name.endsWith(suffix))
      .map((name) => Number.parseInt(name, 10));
    let isSound = true;
    for (const from of all.sort((one, other) => one - other)) {
      const head: Head | null = isSound ? this.#readHead(from) : null;
      isSound = head !== null && from === (this.#last === null ? 0 : this.#last.offset + 1);
      if (head === null || !isSound) {
        rmSync(this.#path(from), { force: true });
        continue;
      }
      this.#files.push(from);
      this.#last = head.last;
      fences = head.fences;
    }
    this.#readIds();
    return fences;
  }

  /** Reads the transfer ids of the newest file. */
  #readIds(): void {
    const from = this.#files.at(-1);
    const head = from === undefined ? null : this.#readHead(from);
    if (from === undefined || head === null) return;
    const rows = this.#read(from, rowsAt, head.rows * rowBytes);
    for (let at = 0; at < rows.length; at += rowBytes) this.#oldIds.add(idOf(rows, at));
  }

  /** Null for a file that is not whole, or of another form. */
  #readHead(from: number): Head | null {
    const { size } = statSync(this.#path(from));
    const text = this.#read(from, 0, headBytes).toString('utf8');
    try {
      const head = JSON.parse(text) as Head;
      const isWhole = size === rowsAt + head.rows * rowBytes;
      return isWhole && head.version === version && head.from === from ? head : null;
    } catch {
      return null;
    }
  }

  #readGroup(from: number, group: number): Buffer {
    const places = this.#read(from, headBytes + group * 4, 8);
    const [first, end] = [places.readUInt32LE(0), places.readUInt32LE(4)];
    return first === end
      ? places.subarray(0, 0)
      : this.#read(from, rowsAt + first * rowBytes, (end - first) * rowBytes);
  }

  #read(from: number, position: number, bytes: number): Buffer {
    const buffer = Buffer.alloc(bytes);
    const file = openSync(this.#path(from), 'r');
    try {
      const read = readSync(file, buffer, 0, bytes, position);
      return buffer.subarray(0, read);
    } finally {
      closeSync(file);
    }
  }

  /** A file has its name only once all its bytes are on the disk. */
  #write(head: Head, { rows, firsts }: ReturnType<typeof grouped>): void {
    const temporary = join(this.#folder, 'unfinished');
    const file = openSync(temporary, 'w');
    try {
      // A full disk takes a part of a single write without an error; these write on until all is taken.
      writeFileSync(file, JSON.stringify(head).padEnd(headBytes));
      writeFileSync(file, Buffer.from(firsts.buffer));
      writeFileSync(file, rows);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, this.#path(head.from));
  }

  #path(from: number): string {
    return join(this.#folder, from + suffix);
  }
}

/** A record as the next start knows it again. */
export function lastOf(offset: number, transfer: Transfer): LastTransfer {
  const { transferId, wallet, amountMicro, timeMs, generation } = transfer;
  const ids = { transferId: transferId.toString('hex'), wallet: wallet.toString('hex') };
  return { offset, ...ids, amountMicro, timeMs, generation };
}
