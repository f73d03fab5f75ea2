import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '@pm/kit/fault';
import type { ReaderOptions } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRecordCodec, type Schemas } from '@pm/kit/registry';
import { hexBytes } from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';
import { topics } from '@pm/schemas/log/topics';
import { wallet } from '../../../query-api/test/in-memory.ts';
import { followTransfers, openStoredTransfers } from '../../src/own/follow-transfers.io.ts';
import { OwnStates } from '../../src/own/own-states.ts';
import { StoredTransfers } from '../../src/own/stored-transfers.io.ts';
import { MemoryClient } from '../feed/memory-client.ts';

const codec = openRecordCodec(topics.transfers.value, 1, async () => null);

/** The topic `transfers`, which refuses a range that it does not have. */
class TransferLog extends MemoryClient {
  /** Where readers began. */
  readonly from: number[] = [];

  constructor(transfers: readonly Transfer[]) {
    super(0);
    this.records = transfers.map((transfer, offset) => {
      return { offset, key: transfer.wallet, value: codec.encode(transfer), timestampMs: 0 };
    });
  }

  override async reader(options: ReaderOptions) {
    if ((options.ends?.get(0) ?? 0) > this.records.length)
      throw new Fault('offset_out_of_range', 'stop');
    this.from.push(options.positions.get(0) ?? 0);
    return await super.reader(options);
  }

  get options() {
    const schemas = { readerFor: () => codec } as unknown as Schemas;
    const onFault = (fault: Fault) => {
      throw fault;
    };
    const { client } = this;
    return { client, schemas, topicPrefix: '', log: silentLog, onFault, onSkip: () => {} };
  }
}

const folder = mkdtempSync(join(tmpdir(), 'follow-transfers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const deposits = (count: number, amountMicro: number): readonly Transfer[] =>
  Array.from({ length: count }, (_, index) => {
    const facts = { amountMicro, timeMs: 1_780_000_000_000 + index, generation: 0 };
    return { transferId: Buffer.alloc(32, index), wallet: hexBytes(wallet(1)), ...facts };
  });

async function follow(log: TransferLog, stored: StoredTransfers): Promise<number> {
  await followTransfers(new OwnStates(stored.totals), stored, log.options);
  return stored.totals.of(wallet(1)).totalMicro;
}

test('a start reads on after the files where the log continues them, else from its beginning', async () => {
  const log = new TransferLog(deposits(100, 3));
  expect(await follow(log, new StoredTransfers(folder, silentLog, 30))).toBe(300);
  log.from.length = 0;
  const again = await openStoredTransfers(folder, log.options);
  expect([await follow(log, again), log.from]).toEqual([300, [89, 90]]);

  const other = new TransferLog(deposits(100, 7));
  const replaced = await openStoredTransfers(folder, other.options);
  expect([replaced.last, await follow(other, replaced), other.from]).toEqual([null, 700, [89, 0]]);
});

test('files of a log that was longer are of another log', async () => {
  await follow(new TransferLog(deposits(100, 3)), new StoredTransfers(folder, silentLog, 30));
  const shorter = new TransferLog(deposits(50, 3));
  const stored = await openStoredTransfers(folder, shorter.options);
  expect([stored.last, await follow(shorter, stored)]).toEqual([null, 150]);
});
