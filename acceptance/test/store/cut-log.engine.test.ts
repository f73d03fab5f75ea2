import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ObjectStore, openObjectStore } from '@pm/kit/objects';
import { topics } from '@pm/schemas/log/topics';
import { naiveKafka } from '../../../kit/test/kafka/engine.ts';
import { ExchangeUnderTest, order, place, type Trader, until } from '../exchange-under-test.ts';
import { setUpNamed } from '../services-under-test.ts';

const partitions = [0, 1];
const storeFolder = `/tmp/pm-cut-${process.pid}`;
const store = { PM_STORE_URL: pathToFileURL(storeFolder).href };
const oftenCopied = { PM_SNAPSHOT_EVERY_MS: '1000', PM_SNAPSHOT_COPY_EVERY_MS: '1000' };
const oftenTaken = { PM_VIEWS: 'ledger,checkpoints', PM_CHECKPOINT_EVERY_MS: '1000' };

let exchange: ExchangeUnderTest;
let trader: Trader;
let objects: ObjectStore;

beforeAll(async () => {
  objects = await openObjectStore({ kind: 'folder', folder: storeFolder });
  exchange = await ExchangeUnderTest.open('cut', partitions.length, store);
  await endStateful();
  startStateful();
  trader = await exchange.openTrader('1000');
}, 180_000);

afterAll(async () => {
  await exchange?.close();
  rmSync(storeFolder, { recursive: true, force: true });
}, 60_000);

function startStateful(): void {
  exchange.startMatcher(undefined, oftenCopied);
  exchange.startProjectors(undefined, oftenTaken);
}

/** Matcher and projectors are gone, and say nothing. */
async function endStateful(): Promise<void> {
  const { matcher, projectors } = exchange.started;
  for (const process of [matcher, projectors]) {
    const isOver = once(process, 'exit');
    process.kill('SIGKILL');
    await isOver;
  }
}

/** Two orders that rest in each partition; resolves when they are booked. */
async function trade(): Promise<void> {
  const [ingress] = exchange.ingresses;
  for (const token of exchange.tokens) {
    const orders = [order(trader, token, '0.10'), order(trader, token, '0.20')];
    await until(async () => {
      const { body } = await place(ingress, trader, orders).catch(() => ({ body: [] }));
      return body.length === orders.length && body.every(({ success }) => success);
    });
  }
}

/** Offset of the oldest copy of a snapshot of a partition; 0 without one. */
async function oldestCopy(partition: number): Promise<number> {
  const names = await objects.list(`snapshots/p${partition}/`);
  return least(names.map((name) => Number.parseInt(basename(name), 10)));
}

/** The least offset that a checkpoint of the ledger has of a partition; 0 without one. */
async function oldestPlace(partition: number): Promise<number> {
  const offsets: number[] = [];
  for (const name of await objects.list('checkpoints/ledger/')) {
    const bytes = await objects.get(name);
    // Removed since it was listed: it was not among the newest.
    if (bytes === null) continue;
    const [head = ''] = bytes.toString('latin1').split('\n');
    const { places } = JSON.parse(head) as { places: { partition: number; offset: number }[] };
    offsets.push(places.find((place) => place.partition === partition)?.offset ?? 0);
  }
  return least(offsets);
}

const least = (offsets: readonly number[]): number =>
  offsets.length === 0 ? 0 : Math.min(...offsets);

/** Orders that no tick has followed are canceled by a claim that comes later than their time-to-book limit. */
async function nextTicks(): Promise<void> {
  for (const one of partitions) {
    const mark = await exchange.ledger.mark('executions', one);
    await until(async () => (await exchange.ledger.mark('executions', one)) > mark);
  }
}

/** The store has a copy and a checkpoint of each partition. */
async function areCopied(): Promise<boolean> {
  for (const one of partitions)
    if ((await oldestCopy(one)) <= 1 || (await oldestPlace(one)) <= 1) return false;
  return true;
}

/** Retention as docs/operating/recovery.md allows it, without its margin. */
async function cut(): Promise<void> {
  const admin = naiveKafka().admin();
  await admin.connect();
  try {
    for (const { name } of [topics.orders, topics.executions]) {
      const topic = `${exchange.name}-${name}`;
      await admin.fetchTopicOffsets(topic);
      const offsets = await Promise.all(
        partitions.map(async (partition) => {
          const copy = await oldestCopy(partition);
          const ofOutputs = Math.min(copy, await oldestPlace(partition)) - 1;
          return { partition, offset: String(name === topics.orders.name ? copy : ofOutputs) };
        }),
      );
      await admin.deleteTopicRecords({ topic, partitions: offsets });
    }
  } finally {
    await admin.disconnect();
  }
}

test('machines with empty disks and an empty Redis go on where the log begins after the checkpoints', async () => {
  await trade();
  await until(areCopied);
  await trade();
  const { address } = trader.signer;
  // 0.30 for each partition and round, with a share each.
  await until(async () => (await exchange.ledger.balance(address)).heldMicro === 1_200_000);
  await nextTicks();
  const before = await exchange.ledger.balance(address);
  await endStateful();
  await cut();
  rmSync(join(exchange.folder, 'snapshots'), { recursive: true });
  await exchange.redis.del(...(await exchange.redis.keys(`${exchange.name}:*`)));

  const { keys } = exchange;
  await setUpNamed(exchange.name, { keys, partitions: partitions.length, hasStore: true });
  startStateful();
  await until(async () => (await exchange.ledger.state()).ready);
  expect(await exchange.ledger.balance(address)).toMatchObject(before);
  await exchange.openIngress();
  await trade();
}, 240_000);

test('without the store each says what is missing', async () => {
  await endStateful();
  rmSync(join(exchange.folder, 'snapshots'), { recursive: true });
  await exchange.redis.del(...(await exchange.redis.keys(`${exchange.name}:*`)));
  exchange.startMatcher(undefined, { PM_STORE_URL: '' });
  exchange.startProjectors(undefined, { PM_STORE_URL: '', PM_VIEWS: 'ledger' });
  const said = () => exchange.services.said.join('');
  await until(async () => /replay_out_of_range/.test(said()));
  await until(async () => /ledger_history_removed/.test(said()));
}, 120_000);
