import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { topics } from '@pm/schemas';
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

beforeAll(async () => {
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

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(join(storeFolder, folder));
  } catch {
    return [];
  }
};

/** Offset of the oldest copy of a snapshot of a partition; 0 without one. */
function oldestCopy(partition: number): number {
  const offsets = namesIn(`snapshots/p${partition}`).map((name) => Number.parseInt(name, 10));
  return offsets.length === 0 ? 0 : Math.min(...offsets);
}

/** The least offset that a checkpoint of the ledger has of a partition; 0 without one. */
function oldestPlace(partition: number): number {
  const folder = 'checkpoints/ledger';
  const offsets = namesIn(folder).map((name) => {
    const [head = ''] = readFileSync(join(storeFolder, folder, name), 'latin1').split('\n');
    const { places } = JSON.parse(head) as { places: { partition: number; offset: number }[] };
    return places.find((place) => place.partition === partition)?.offset ?? 0;
  });
  return offsets.length === 0 ? 0 : Math.min(...offsets);
}

/** Retention as docs/operating/recovery.md allows it, without its margin. */
async function cut(): Promise<void> {
  const admin = naiveKafka().admin();
  await admin.connect();
  try {
    for (const { name } of [topics.orders, topics.executions]) {
      const topic = `${exchange.name}-${name}`;
      await admin.fetchTopicOffsets(topic);
      const offsets = partitions.map((partition) => {
        const copy = oldestCopy(partition);
        const ofOutputs = Math.min(copy, oldestPlace(partition)) - 1;
        return { partition, offset: String(name === topics.orders.name ? copy : ofOutputs) };
      });
      await admin.deleteTopicRecords({ topic, partitions: offsets });
    }
  } finally {
    await admin.disconnect();
  }
}

test('machines with empty disks and an empty Redis go on where the log begins after the checkpoints', async () => {
  await trade();
  await until(async () => partitions.every((one) => oldestCopy(one) > 1 && oldestPlace(one) > 1));
  await trade();
  const { address } = trader.signer;
  // 0.30 for each partition and round, with a share each.
  await until(async () => (await exchange.ledger.balance(address)).heldMicro === 1_200_000);
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
