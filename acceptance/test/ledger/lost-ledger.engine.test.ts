import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { logPlaceOf } from '@pm/deploy/installation/open';
import { loadOrMakeKeys } from '@pm/deploy/setup/keys';
import { openSealedLog } from '@pm/domain/authority/sealed-log.io';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { openSignOffKey, type SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { Sequences } from '@pm/domain/signoff/sequences';
import { type LogClient, type LogProducer, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import type { RecordCodec } from '@pm/kit/registry';
import type { LogAudit } from '@pm/operate/audit/log-audit';
import { auditLog, sumTransfers } from '@pm/operate/audit/read-log';
import { orderIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { Command, Envelope, PlaceOrder } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { redisKeys } from '@pm/schemas/redis/keys';
import { until } from '../exchange-under-test.ts';
import { engineUrls, ServicesUnderTest, setUpNamed } from '../services-under-test.ts';

const name = `lost_ledger_${process.pid}`;
const topicPrefix = `${name}-`;
const partitions = 2;
const wallets = 4;
const usdc = 1_000_000;
const deposited = 1_000 * usdc;
const folder = mkdtempSync(join(tmpdir(), 'lost-ledger-'));
const keys = loadOrMakeKeys(join(folder, 'keys.json'));

interface World {
  readonly client: LogClient;
  readonly producer: LogProducer;
  readonly orders: RecordCodec<Envelope>;
  readonly redis: RedisClient;
  readonly ledger: Ledger;
}
const services = new ServicesUnderTest(name);
let world: World;
const sequences = new Sequences();

beforeAll(async () => {
  const urls = engineUrls();
  await setUpNamed(name, { keys, partitions });
  const client = openLogClient({ brokers: [urls.kafka], clientId: name, log: silentLog });
  const { schemas } = logPlaceOf(client, { topicPrefix, rootKey: keys.rootKey });
  const redis = openRedis({ url: urls.redis, log: silentLog });
  services.start('matcher', {
    PM_OWNER_SEED: keys.ownerSeed,
    PM_REPLICATION_MIN: '1',
    PM_OPERATOR_KEY: keys.openingKey,
    PM_SNAPSHOT_DIR: join(folder, 'snapshots'),
  });
  services.start('projectors', { PM_VIEWS: 'ledger', PM_LEDGER_SEED: keys.ledgerSeed });
  world = {
    client,
    redis,
    producer: await client.producer(),
    orders: await schemas.codecFor(topics.orders),
    ledger: openLedger(redis, redisKeys(name)),
  };
  const transfers = await schemas.codecFor(topics.transfers);
  const sealed = await openSealedLog({
    client,
    schemas,
    topicPrefix,
    rootKey: Buffer.from(keys.rootKey, 'hex'),
    sealing: [openSignOffKey(Buffer.from(keys.operatorSeed, 'hex'))],
    log: silentLog,
    onUnproven: () => {},
    onFault: () => {},
  });
  const deposits = await sealed.producer();
  for (let index = 0; index < wallets; index += 1) {
    const transfer = { transferId: bytes(32, 1_000 + index), wallet: walletOf(index) };
    const money = { amountMicro: deposited, timeMs: 1, generation: 0 };
    const value = transfers.encode({ ...transfer, ...money });
    await deposits.send([{ topic: `${topicPrefix}transfers`, partition: 0, key: null, value }]);
  }
  for (let partition = 0; partition < partitions; partition += 1)
    await append(keys.operatorSeed, partition, [marketOf(partition)]);
  await opened(1);
  // No ingress runs that bears witness to the time.
  for (let partition = 0; partition < partitions; partition += 1)
    await append(keys.ingressSeed, partition, [{ kind: 'Tick', term: 0, timeMs: Date.now() }]);
}, 120_000);

afterAll(async () => {
  await services.stop();
  await clear();
  await world?.redis.quit();
  await world?.client.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Redis is emptied, as far as it is ours: others share it. */
async function clear(): Promise<void> {
  const left = (await world?.redis.keys(`${name}:*`)) ?? [];
  if (left.length > 0) await world.redis.del(...left);
}

function bytes(size: number, number: number): Buffer {
  const made = Buffer.alloc(size, 7);
  made.writeUInt32BE(number, size - 4);
  return made;
}

const walletOf = (index: number): Buffer => bytes(20, 1 + index);

function marketOf(partition: number): Command {
  return {
    kind: 'SetMarket',
    market: 1 + partition,
    conditionId: bytes(32, 10 + partition),
    token0: bytes(32, 20 + partition),
    token1: bytes(32, 30 + partition),
    tick: 100,
    minSizeMicro: usdc,
    feeRateBps: 0,
    mode: 'OPEN',
    takerDelayMs: 0,
    tickOnly: false,
  };
}

const signers = new Map<string, SignOffKey>();

async function append(
  seed: string,
  partition: number,
  commands: readonly Command[],
): Promise<void> {
  const key = signers.get(seed) ?? openSignOffKey(Buffer.from(seed, 'hex'));
  signers.set(seed, key);
  const value = sealEnvelope(world.orders, key, {
    partition,
    sequence: sequences.next(Date.now()),
    commands,
  });
  await world.producer.send([{ topic: `${topicPrefix}orders`, partition, key: null, value }]);
}

/** A bid that rests, or meets one for the other token at the same price. */
function bid(id: number, shares: number): PlaceOrder {
  return {
    kind: 'PlaceOrder',
    orderId: bytes(32, 10_000 + id),
    market: 1 + (id % partitions),
    outcome: (id >> 1) % 2,
    side: 'BUY',
    timeInForce: 'GTC',
    postOnly: false,
    price: 5_000,
    sizeMicro: shares * usdc,
    budgetMicro: 0,
    holdMicro: (shares * usdc) / 2,
    generation: 0,
    expiresAtMs: 0,
    acceptedAtMs: Date.now(),
    ageLimitMs: 0,
    signedAtMs: Date.now(),
    maker: walletOf(id % wallets),
    signer: walletOf(id % wallets),
    apiKey: bytes(16, id % wallets),
    builder: Buffer.alloc(32),
    selfTrade: 'CANCEL_NEWEST',
  };
}

/** The order under the generation of its reservation, or null when nothing could be reserved. */
async function reserved(order: PlaceOrder): Promise<PlaceOrder | null> {
  const { outcome, generation } = await world.ledger.reserve({
    orderId: orderIdFromBytes(order.orderId),
    wallet: walletFromBytes(order.maker),
    amountMicro: order.holdMicro,
    partition: order.market - 1,
    kind: 'order',
    market: order.market,
    acceptedAtMs: order.acceptedAtMs,
  });
  return outcome === 'reserved' ? { ...order, generation } : null;
}

async function place(order: PlaceOrder | null): Promise<boolean> {
  if (order === null) return false;
  const acceptedAtMs = Date.now();
  const witness = { kind: 'Tick', term: 0, timeMs: acceptedAtMs } as const;
  await append(keys.ingressSeed, order.market - 1, [witness, { ...order, acceptedAtMs }]);
  return true;
}

async function opened(generation: number): Promise<number> {
  for (let tries = 0; tries < 300; tries += 1) {
    const state = await world.ledger.state();
    if (state.ready && state.generation >= generation) return state.generation;
    await wait(100);
  }
  throw new Error(`the ledger did not open under generation ${generation}`);
}

/** Waits until every record of `orders` has its outputs; they are dense, so they are never fewer. */
async function matched(): Promise<void> {
  const admin = await world.client.admin();
  try {
    const inputs = await admin.bounds(`${topicPrefix}orders`);
    await until(async () => {
      const outputs = await admin.bounds(`${topicPrefix}executions`);
      return [...inputs].every(([each, { high }]) => (outputs.get(each)?.high ?? 0) >= high);
    });
  } finally {
    await admin.close();
  }
}

/** Compares the ledger with the log, for every wallet, once it has folded all records. */
async function expectLedgerOfLog(): Promise<LogAudit> {
  const { client, ledger } = world;
  const options = logPlaceOf(client, { topicPrefix, rootKey: keys.rootKey });
  await matched();
  const audit = await auditLog(options);
  const transfers = await sumTransfers(options);
  expect(audit.violations).toEqual([]);
  for (let index = 0; index < wallets; index += 1) {
    const wallet = walletFromBytes(walletOf(index));
    const freeMicro = (transfers.get(wallet) ?? 0) + (audit.free.get(wallet) ?? 0);
    const expected = { freeMicro, heldMicro: audit.held.get(wallet) ?? 0 };
    const isFolded = async () => isSame(await ledger.balance(wallet), expected);
    await until(isFolded, 20).catch(() => {});
    expect(await ledger.balance(wallet)).toMatchObject(expected);
    expect(freeMicro).toBeGreaterThanOrEqual(0);
  }
  return audit;
}

interface Money {
  readonly freeMicro: number;
  readonly heldMicro: number;
}

function isSame(balance: Money, expected: Money): boolean {
  return balance.freeMicro === expected.freeMicro && balance.heldMicro === expected.heldMicro;
}

describe('a ledger whose Redis is lost', () => {
  test('lost under traffic opens again, and no order is booked against a lost reservation', async () => {
    const before = await opened(1);
    const unsent: (PlaceOrder | null)[] = [];
    let id = 1;
    for (; id <= 60; id += 1) {
      const order = await reserved(bid(id, 20));
      if (id % 5 === 0) unsent.push(order);
      else await place(order);
    }
    expect(unsent.every((order) => order?.generation === before)).toBe(true);
    await clear();
    expect(await reserved(bid(id++, 20))).toBeNull();
    const now = await opened(before + 1);
    for (; id <= 160; id += 1) await place(await reserved(bid(id, 200)));
    for (const order of unsent) await place(order);
    const audit = await expectLedgerOfLog();
    for (const order of unsent) {
      expect(audit.orders.has(orderIdFromBytes(order?.orderId ?? bytes(32, 0)))).toBe(false);
    }
    expect(audit.refused).toBeGreaterThanOrEqual(unsent.length);
    expect(audit.orders.size).toBeGreaterThan(48);
    expect(await opened(now)).toBe(now);
  }, 120_000);

  test('again in the middle of its rebuild opens under a newer generation', async () => {
    const before = await opened(1);
    await clear();
    const { ledgerState } = redisKeys(name);
    for (let tries = 0; tries < 600; tries += 1) {
      if ((await world.redis.hget(ledgerState, 'planned')) !== null) break;
      await wait(10);
    }
    await clear();
    const now = await opened(before + 1);
    expect((await world.ledger.state()).generation).toBe(now);
    const order = { ...bid(1_000, 2), price: 100, holdMicro: 20_000 };
    expect(await place(await reserved(order))).toBe(true);
    const audit = await expectLedgerOfLog();
    expect(audit.orders.has(orderIdFromBytes(order.orderId))).toBe(true);
  }, 120_000);

  test('lost in part is closed and opens again: its marks are older than the applied records', async () => {
    const before = await opened(1);
    const { ledgerMarks, ledgerClockOf } = redisKeys(name);
    const mark = await world.ledger.mark('executions', 0);
    // The clock of that mark is older, too; a mark without one is not compared with the log.
    await world.redis.hdel(ledgerMarks, ledgerClockOf(0));
    await world.redis.hset(ledgerMarks, 'executions:0', mark - 1);
    expect(await opened(before + 1)).toBeGreaterThan(before);
  }, 120_000);
});
