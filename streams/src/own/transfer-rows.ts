import type { StoredTransfer } from '@pm/domain/ledger/transfer-totals';
import type { Transfer } from '@pm/schemas/log/accounts';

/** Bytes of a row: offset, amount and time as doubles, wallet, id, and 4 that are free. */
export const rowBytes = 80;
const rowAt = { offset: 0, amount: 8, time: 16, wallet: 24, id: 44, end: 76 } as const;

/** Groups by wallet in a file: one of them is read for a wallet. */
export const groups = 1_024;

/** The last bytes of an address are as good as random. */
export function groupOf(wallet: Buffer, from = 0): number {
  return wallet.readUInt32BE(from + 16) % groups;
}

export function writeRow(rows: Buffer, at: number, offset: number, transfer: Transfer): void {
  rows.writeDoubleLE(offset, at + rowAt.offset);
  rows.writeDoubleLE(transfer.amountMicro, at + rowAt.amount);
  rows.writeDoubleLE(transfer.timeMs, at + rowAt.time);
  transfer.wallet.copy(rows, at + rowAt.wallet);
  transfer.transferId.copy(rows, at + rowAt.id);
}

/** The id of a row, as short as memory has it. */
export function idOf(rows: Buffer, at: number): string {
  return rows.toString('latin1', at + rowAt.id, at + rowAt.end);
}

/** The rows of a wallet, in their order. */
export function* rowsOf(rows: Buffer, wallet: Buffer): Generator<StoredTransfer> {
  const last = wallet.readUInt32BE(16);
  for (let at = 0; at < rows.length; at += rowBytes) {
    const walletAt = at + rowAt.wallet;
    if (rows.readUInt32BE(walletAt + 16) !== last) continue;
    if (rows.compare(wallet, 0, wallet.length, walletAt, walletAt + wallet.length) !== 0) continue;
    yield {
      offset: rows.readDoubleLE(at + rowAt.offset),
      amountMicro: rows.readDoubleLE(at + rowAt.amount),
      timeMs: rows.readDoubleLE(at + rowAt.time),
      id: rows.toString('hex', at + rowAt.id, at + rowAt.end),
    };
  }
}

/** Rows by their groups, each in its order, and the first row of each group, with the end at last. */
export function grouped(rows: Buffer): { readonly rows: Buffer; readonly firsts: Uint32Array } {
  const count = rows.length / rowBytes;
  const firsts = new Uint32Array(groups + 1);
  const groupAt = (row: number) => groupOf(rows, row * rowBytes + rowAt.wallet);
  for (let row = 0; row < count; row += 1) addOne(firsts, groupAt(row) + 1);
  for (let group = 1; group <= groups; group += 1)
    firsts[group] = (firsts[group] ?? 0) + (firsts[group - 1] ?? 0);
  const next = firsts.slice();
  const sorted = Buffer.alloc(rows.length);
  for (let row = 0; row < count; row += 1) {
    const place = addOne(next, groupAt(row));
    rows.copy(sorted, place * rowBytes, row * rowBytes, (row + 1) * rowBytes);
  }
  return { rows: sorted, firsts };
}

/** Returns the value before. */
function addOne(numbers: Uint32Array, at: number): number {
  const value = numbers[at] ?? 0;
  numbers[at] = value + 1;
  return value;
}
