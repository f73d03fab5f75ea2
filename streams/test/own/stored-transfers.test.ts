import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TransferTotals } from '@pm/domain/ledger/transfer-totals';
import { MemoryTransfers } from '@pm/domain/testing/memory-transfers';
import { silentLog } from '@pm/kit/log';
import { Random } from '@pm/kit/random';
import { hexBytes, type WalletAddress } from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';
import { heapInUse } from '../../../kit/test/hostile/heap.ts';
import { wallet } from '../../../query-api/test/in-memory.ts';
import { OwnStates } from '../../src/own/own-states.ts';
import { StoredTransfers } from '../../src/own/stored-transfers.io.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'transfers-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function transferOf(id: number, owner: WalletAddress, changes: Partial<Transfer> = {}): Transfer {
  const transferId = Buffer.alloc(32);
  transferId.writeUInt32BE(id);
  const facts = { amountMicro: 1_000_000, timeMs: 1_780_000_000_000 + id, generation: 0 };
  return { transferId, wallet: hexBytes(owner), ...facts, ...changes };
}

/** Takes the records of a log from where the files end. */
function follow(stored: StoredTransfers, log: readonly Transfer[], end = log.length): void {
  const states = new OwnStates(stored.totals);
  for (let offset = (stored.last?.offset ?? -1) + 1; offset < end; offset += 1) {
    states.takeTransfer(offset, log[offset] as Transfer);
    stored.taken(offset, log[offset] as Transfer);
  }
}

/** Deposits, withdrawals, fences and, within some 50 records, repetitions. */
function randomLog(seed: number): readonly Transfer[] {
  const random = new Random(seed);
  return Array.from({ length: 400 }, (_, index) => {
    const amountMicro = random.chance(0.05)
      ? 0
      : random.integer(1, 1_000) * (random.chance(0.4) ? -1 : 1);
    const generation = random.chance(0.7) ? 0 : random.integer(1, 4);
    const owner = wallet(random.integer(1, 5));
    const id = Math.max(0, index - (random.chance(0.3) ? random.integer(1, 50) : 0));
    return transferOf(id, owner, { amountMicro, generation });
  });
}

const totalsOf = (totals: TransferTotals) =>
  [1, 2, 3, 4, 5].map((index) => totals.of(wallet(index)));
const filesIn = () => readdirSync(join(folder, 'transfers')).sort();
/** Rows of a file. */
const rows = 60;

function expectedOf(log: readonly Transfer[]): ReturnType<typeof totalsOf> {
  const totals = new TransferTotals(new MemoryTransfers());
  for (const [offset, transfer] of log.entries()) totals.apply(offset, transfer);
  return totalsOf(totals);
}

test.each([1, 2, 3])('deaths at any record change no total, seed %d', (seed) => {
  const log = randomLog(seed);
  const expected = expectedOf(log);
  for (let end = 0; end <= log.length; end += 57) {
    rmSync(folder, { recursive: true, force: true });
    follow(new StoredTransfers(folder, silentLog, rows), log, end);
    const restarted = new StoredTransfers(folder, silentLog, rows);
    if (end > 200) expect(restarted.last?.offset).toBeGreaterThan(end - 2 * rows);
    follow(restarted, log);
    expect(totalsOf(restarted.totals)).toEqual(expected);
  }
});

/** Bytes before the rows of a file, and of a row. */
const [rowsAt, rowBytes] = [1_024 + 1_025 * 4, 80];

test.each([
  ['in its head', 100],
  ['after its head', 1_024],
  ['in the middle of a row', rowsAt + 20.5 * rowBytes],
  ['before its last row', rowsAt + (rows - 1) * rowBytes],
])('a file that ends %s, and those after it, are read from the log again', (_, bytes) => {
  const log = randomLog(4);
  follow(new StoredTransfers(folder, silentLog, rows), log);
  const files = filesIn();
  expect(files.length).toBeGreaterThan(3);
  const [, second = ''] = files.map((name) => Number.parseInt(name, 10)).sort((a, b) => a - b);
  truncateSync(join(folder, 'transfers', `${second}.rows`), bytes);
  const again = new StoredTransfers(folder, silentLog, rows);
  expect([again.last?.offset, filesIn()]).toEqual([Number(second) - 1, ['0.rows']]);
  follow(again, log);
  expect([totalsOf(again.totals), filesIn()]).toEqual([expectedOf(log), files]);
});

const built = new URL('../../dist/own/stored-transfers.io.js', `file://${__dirname}/`).href;
/** Fills the rows of one file in a process of its own, whose files the kernel bounds. */
const fillOneFile = `
  import { StoredTransfers } from '${built}';
  const stored = new StoredTransfers(process.argv[1], { error: () => {} }, 200);
  const facts = { wallet: Buffer.alloc(20, 1), amountMicro: 1, timeMs: 1, generation: 0 };
  for (let offset = 0; offset < 200; offset += 1) {
    const transfer = { ...facts, transferId: Buffer.alloc(32, offset) };
    stored.totals.apply(offset, transfer);
    stored.taken(offset, transfer);
  }
`;

test('a disk that takes a part of the bytes makes no file', () => {
  // 10 or 20 KiB, as shells have two units: after the head of the file, and before its end.
  const bounded = 'ulimit -f 20; exec "$0" --input-type=module -e "$1" "$2"';
  execFileSync('sh', ['-c', bounded, process.execPath, fillOneFile, folder]);
  expect(filesIn()).toEqual(['unfinished']);
  execFileSync(process.execPath, ['--input-type=module', '-e', fillOneFile, folder]);
  expect(filesIn()).toEqual(['0.rows']);
});

/** Writes fail from here on; returns what lets them succeed again. */
function refuseWrites(): () => void {
  const unfinished = join(folder, 'transfers', 'unfinished');
  mkdirSync(unfinished);
  return () => rmSync(unfinished, { recursive: true });
}

const deposits = Array.from({ length: 17 * rows }, (_, id) => transferOf(id, wallet(id % 5)));

test('while files cannot be written, no total changes, and later they are', () => {
  const stored = new StoredTransfers(folder, silentLog, rows);
  const allowWrites = refuseWrites();
  follow(stored, deposits, 10 * rows);
  expect([stored.last, stored.rowsInMemory]).toEqual([null, 10 * rows]);
  expect(totalsOf(stored.totals)).toEqual(expectedOf(deposits.slice(0, 10 * rows)));
  allowWrites();
  const states = new OwnStates(stored.totals);
  for (const [offset, transfer] of deposits.entries()) {
    if (offset < 10 * rows) continue;
    states.takeTransfer(offset, transfer);
    stored.taken(offset, transfer);
  }
  expect(stored.rowsInMemory).toBeLessThan(rows);
  const again = new StoredTransfers(folder, silentLog, rows);
  expect(again.last).toEqual(stored.last);
  follow(again, deposits);
  expect(totalsOf(again.totals)).toEqual(expectedOf(deposits));
});

test('files that cannot be written end the service once memory has the rows of sixteen', () => {
  const stored = new StoredTransfers(folder, silentLog, rows);
  refuseWrites();
  expect(() => follow(stored, deposits)).toThrow('EISDIR');
  expect(stored.rowsInMemory).toBe(16 * rows);
});

test('of 100,000 wallets that nothing subscribes to no transfer stays in memory', async () => {
  const stored = new StoredTransfers(folder, silentLog, 5_000);
  const states = new OwnStates(stored.totals);
  const wallets = 100_000;
  const deposit = (from: number, to: number) => {
    for (let index = from; index < to; index += 1) {
      const transfer = transferOf(index, wallet(index));
      states.takeTransfer(index, transfer);
      stored.taken(index, transfer);
    }
  };
  deposit(0, 20_000);
  const before = await heapInUse();
  deposit(20_000, wallets);
  expect([stored.totals.kept, stored.rowsInMemory]).toEqual([0, 0]);
  // Two maps of totals and ids took some 300 for each.
  expect(((await heapInUse()) - before) / wallets).toBeLessThan(30);
  expect(states.of(wallet(77_777))).toMatchObject([{ transfers: { totalMicro: 1_000_000 } }]);
  states.forget(wallet(77_777));
  expect(stored.totals.kept).toBe(0);
}, 120_000);
