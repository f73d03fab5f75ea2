import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { silentLog } from '@pm/kit/log';
import { hexBytes } from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';
import { wallet } from '../../../query-api/test/in-memory.ts';
import { OwnStates } from '../../src/own/own-states.ts';
import { StoredTransfers } from '../../src/own/stored-transfers.io.ts';
import type { StreamClient } from '../stream-client.ts';
import { goodHeaders, StreamWorld } from '../stream-world.ts';

const folder = mkdtempSync(join(tmpdir(), 'own-transfers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Deposits of 1 USDC: every third is of the wallet that subscribes, of which some are repeated. */
const log: readonly Transfer[] = Array.from({ length: 300 }, (_, index) => {
  const isRepeated = index % 30 === 0 && index > 0;
  const transferId = Buffer.alloc(32);
  transferId.writeUInt32BE(isRepeated ? index - 30 : index);
  const owner = index % 3 === 0 ? wallet(1) : wallet(100 + index);
  const facts = { amountMicro: 1_000_000, timeMs: 1_780_000_000_000 + index, generation: 0 };
  return { transferId, wallet: hexBytes(owner), ...facts };
});

/** Offsets of the deposits that count for the wallet; the total after the n-th is n. */
const counted = log.flatMap((_, index) => (index % 3 === 0 && isFirst(index) ? [index] : []));

function isFirst(index: number): boolean {
  const id = log[index]?.transferId ?? Buffer.alloc(0);
  return log.findIndex(({ transferId }) => transferId.equals(id)) === index;
}

const totalAt = (offset: number) => counted.filter((one) => one <= offset).length;

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await wait(1);
}

/** A process of the service over the folder. */
class Instance {
  readonly stored = new StoredTransfers(folder, silentLog, 37);
  readonly ownStates = new OwnStates(this.stored.totals);
  readonly world = new StreamWorld(undefined, 1 << 29, this.ownStates);

  take(from: number, to: number): void {
    for (let offset = from; offset < to; offset += 1) {
      const transfer = log[offset] as Transfer;
      this.ownStates.takeTransfer(offset, transfer);
      this.stored.taken(offset, transfer);
    }
  }

  async subscribe(): Promise<StreamClient> {
    const client = await this.world.open();
    client.send({ op: 'auth', id: 2, headers: goodHeaders });
    await client.of('authenticated');
    client.send({ op: 'subscribe', id: 3, channel: 'own' });
    return client;
  }
}

/** Totals of the states up to the one of an offset: the first is of the subscription, each later one of a deposit. */
async function totalsUntil(client: StreamClient, offset: number): Promise<readonly number[]> {
  const totals: number[] = [];
  while (totals.at(-1) !== totalAt(offset)) {
    const state = await client.of('state');
    totals.push(Number(state['total']));
  }
  return totals;
}

const dense = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('a subscriber gets each transfer once, over a burst, a reconnect and a restart', async () => {
  const first = new Instance();
  await first.world.start();
  first.take(0, 50);
  const client = await first.subscribe();
  // The subscription begins somewhere in the burst.
  for (let offset = 50; offset < 150; offset += 1) {
    first.take(offset, offset + 1);
    if (offset % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const burst = await totalsUntil(client, 149);
  expect(burst).toEqual(dense(burst[0] ?? 0, totalAt(149)));
  expect(burst[0]).toBeGreaterThanOrEqual(totalAt(49));
  client.socket.terminate();
  await until(() => first.stored.totals.kept === 0);

  first.take(150, 200);
  const again = await first.subscribe();
  expect(await totalsUntil(again, 199)).toEqual([totalAt(199)]);
  first.take(200, 220);
  expect(await totalsUntil(again, 219)).toEqual(dense(totalAt(199) + 1, totalAt(219)));
  again.socket.terminate();
  await first.world.close();

  // It ended without a word: the next one reads on after the files.
  const second = new Instance();
  await second.world.start();
  second.take((second.stored.last?.offset ?? -1) + 1, 220);
  const restarted = await second.subscribe();
  expect(await totalsUntil(restarted, 219)).toEqual([totalAt(219)]);
  second.take(220, 300);
  expect(await totalsUntil(restarted, 299)).toEqual(dense(totalAt(219) + 1, totalAt(299)));
  restarted.socket.terminate();
  await second.world.close();
});
