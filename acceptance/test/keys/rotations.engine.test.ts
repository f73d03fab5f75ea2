import { publicKeyOf } from '@pm/deploy/setup/keys';
import { openSealedLog, type SealedLog } from '@pm/domain/authority/sealed-log.io';
import type { UnprovenRecord } from '@pm/domain/authority/unproven-records.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { type IncomingRecord, readRange } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { CatalogEntry } from '@pm/schemas/log/catalog';
import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { type OperatorProcess, order, place, type Trader, until } from '../exchange-under-test.ts';
import {
  FlowingOrders,
  idOfSeed,
  patient,
  RotationUnderTest,
  stop,
  stopFlows,
} from './rotation-under-test.ts';

let rotation: RotationUnderTest;
let trader: Trader;

beforeAll(async () => {
  rotation = await RotationUnderTest.open('rotations');
  trader = await rotation.exchange.openTrader('1000');
}, 180_000);

afterEach(stopFlows);

afterAll(() => rotation?.close(), 60_000);

function flowing(): FlowingOrders {
  const { ingress, tokens } = rotation.exchange;
  return new FlowingOrders(ingress, trader, { tokens, sender: patient });
}

/** A log that seals with these keys. */
async function sealedLog(
  seeds: readonly string[],
  onUnproven: (record: UnprovenRecord) => void,
): Promise<SealedLog> {
  const { client, schemas, exchange } = rotation;
  return await openSealedLog({
    client,
    schemas,
    topicPrefix: `${exchange.name}-`,
    rootKey: Buffer.from(exchange.keys.rootKey, 'hex'),
    sealing: seeds.map((seed) => openSignOffKey(Buffer.from(seed, 'hex'))),
    log: silentLog,
    onUnproven,
    onFault: () => {},
  });
}

/** The catalog as services read it, and what they leave out of it. */
async function readCatalog() {
  const unproven: UnprovenRecord[] = [];
  const records: IncomingRecord[] = [];
  const log = await sealedLog([], (record) => unproven.push(record));
  const topic = rotation.nameOf(topics.catalog);
  const admin = await log.admin();
  const to = (await admin.bounds(topic).finally(() => admin.close())).get(0)?.high ?? 0;
  const onBatch = async (batch: { readonly records: readonly IncomingRecord[] }) => {
    records.push(...batch.records);
  };
  await readRange(log, { topic, partition: 0, from: 0, to, dense: false, onBatch });
  return { records, unproven };
}

test('the key of owners is rotated while orders go in: one matcher takes over from the other', async () => {
  const { exchange } = rotation;
  const former = exchange.keys.ownerSeed;
  const orders = flowing();
  await orders.more();
  await rotation.rotate('OWNER');
  const { ownerSeed } = rotation.keys();
  expect(ownerSeed).not.toBe(former);
  const { matcher } = exchange.started;
  exchange.startMatcher(ownerSeed);
  await stop(matcher);
  await orders.more();
  expect(await rotation.rejected('UNKNOWN_KEY')).toBe(0);
  expect(await rotation.retire({ role: 'OWNER' })).toEqual([idOfSeed(former)]);
  await rotation.sendSignedBy(former, [{ kind: 'Tick', term: 0, timeMs: Date.now() }]);
  await rotation.awaitRejected('UNKNOWN_KEY', 0);
  await orders.more();
  await orders.end();
}, 240_000);

test('the key of the ledger is rotated while orders go in, and begins the next generation', async () => {
  const { exchange } = rotation;
  const former = exchange.keys.ledgerSeed;
  const orders = flowing();
  await orders.more();
  await rotation.rotate('LEDGER');
  const { projectors } = exchange.started;
  exchange.startProjectors(rotation.keys().ledgerSeed);
  await stop(projectors);
  await orders.more();
  const before = await rotation.rejected('UNKNOWN_KEY');
  expect(await rotation.retire({ role: 'LEDGER' })).toEqual([idOfSeed(former)]);
  await rotation.sendSignedBy(former, [{ kind: 'StartGeneration', generation: 1_000_000 }]);
  await rotation.awaitRejected('UNKNOWN_KEY', before);
  await orders.more();
  await orders.end();

  const { generation } = await exchange.ledger.state();
  const lost = await exchange.redis.keys(`${exchange.name}:*`);
  await exchange.redis.del(...lost);
  await until(async () => {
    const state = await exchange.ledger.state();
    return state.ready && state.generation > generation;
  });
  expect((await exchange.ledger.state()).generation).toBeLessThan(1_000_000);
}, 240_000);

const setKey = (seed: string): Command => ({
  kind: 'SetKey',
  publicKey: Buffer.from(publicKeyOf(seed), 'hex'),
  role: 'OPERATOR',
  active: true,
});

/** Halts and opens a market, and lists another one, which orders are then placed in. */
async function operateThrough(process: OperatorProcess, slug: string): Promise<void> {
  const market = { slug, question: 'More?', minOrderSize: '1' };
  const { markets } = await process.operator.importEvents([
    { slug, title: 'More', markets: [market] },
  ]);
  const [{ id, tokenIds } = { id: '', tokenIds: [] }] = markets;
  const { ingress } = rotation.exchange;
  /** Whether an order is taken; null while that cannot be said. */
  const isTaken = async () => {
    const { status, body } = await place(ingress, trader, [order(trader, tokenIds[0] ?? '')]);
    if (status === 200 && body[0]?.success === true) return true;
    return JSON.stringify(body).includes('condition_paused') ? false : null;
  };
  const setMode = (mode: string) =>
    until(async () => {
      const set = await rotation.exchange.operate('POST', `markets/${id}/mode`, { mode }, process);
      return set.status === 200;
    });
  await until(async () => (await isTaken()) === true);
  await setMode('HALTED');
  await until(async () => (await isTaken()) === false);
  await setMode('OPEN');
  await until(async () => (await isTaken()) === true);
}

test('the key of the operator is rotated while orders go in, and a retired one changes nothing', async () => {
  const { exchange } = rotation;
  const former = exchange.keys.operatorSeed;
  const orders = flowing();
  await orders.more();
  await operateThrough(exchange.operatorProcess, 'before');
  await rotation.rotate('OPERATOR');
  const { operatorSeed } = rotation.keys();
  await operateThrough(exchange.operatorProcess, 'between');
  const next = await exchange.openOperator({ PM_OPERATOR_SEED: operatorSeed });
  await stop(exchange.operatorProcess.process);
  await operateThrough(next, 'after');

  const thief = await (await sealedLog([former], () => {})).producer();
  const before = await rotation.rejected('UNKNOWN_KEY');
  const halt = { kind: 'SetTradingMode', mode: 'HALTED' } as const;
  expect(await rotation.retire({ role: 'OPERATOR' })).toEqual([idOfSeed(former)]);
  await rotation.sendSignedBy(former, [halt]);
  await rotation.awaitRejected('UNKNOWN_KEY', before);

  const codec = await rotation.schemas.codecFor(topics.catalog);
  const { records, unproven } = await readCatalog();
  expect(unproven).toEqual([]);
  const listed = records.find(
    ({ value }) => value !== null && codec.decode(value).kind === 'CatalogMarket',
  );
  const market = codec.decode(listed?.value ?? Buffer.alloc(0));
  const value = codec.encode({ ...market, question: 'Stolen?' } as CatalogEntry);
  const topic = rotation.nameOf(topics.catalog);
  const [sent] = await thief.send([{ topic, partition: 0, key: listed?.key ?? null, value }]);
  const { offset } = sent ?? { offset: -1 };
  expect((await readCatalog()).unproven).toEqual([
    { topic, partition: 0, offset, reason: 'retired_key' },
  ]);
  await operateThrough(next, 'later');
  await orders.more();
  await orders.end();
}, 240_000);

test('a key of the operator lists no key, neither itself nor another, and begins no rules', async () => {
  const { operatorSeed } = rotation.keys();
  const other = '77'.repeat(32);
  const stolen: readonly Command[] = [
    setKey(other),
    { ...setKey(operatorSeed), active: false } as Command,
    { kind: 'SetRules', version: newestRules + 1 },
  ];
  for (const command of stolen) {
    const before = await rotation.rejected('NOT_ALLOWED');
    await rotation.sendSignedBy(operatorSeed, [command]);
    await rotation.awaitRejected('NOT_ALLOWED', before);
  }
  const before = await rotation.rejected('UNKNOWN_KEY');
  await rotation.sendSignedBy(other, [{ kind: 'SetTradingMode', mode: 'HALTED' }]);
  await rotation.awaitRejected('UNKNOWN_KEY', before);
}, 120_000);
