import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noKeptOpenings } from '@pm/domain/signoff/first-envelope.io';
import { keyIdOf, openSignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import type { LogAdmin, ReaderOptions } from '@pm/kit/kafka';
import { openRecordCodec } from '@pm/kit/registry';
import { Engine } from '@pm/matcher/core';
import type { WalletAddress } from '@pm/schemas/ids';
import { newestRules, rules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { MemoryLog } from '../../../domain/test/authority/memory-log.ts';
import { loneReader } from '../../../kit/test/kafka/lone-reader.ts';
import { readOpenings } from '../../src/installation/fee-wallet.ts';
import { loadOrMakeKeys, publicKeyOf, readAuthority } from '../../src/setup/keys.ts';
import { findOpening } from '../../src/setup/openings.ts';
import { partitionLines } from '../../src/setup/partition-lines.ts';
import {
  openPartitions,
  opensMore,
  type PartitionOpening,
  type PartitionsFound,
} from '../../src/setup/partitions.ts';
import { AskedModes, type TradingMode } from '../../src/setup/trading-mode.ts';

const folder = mkdtempSync(join(tmpdir(), 'partitions-'));
const keys = loadOrMakeKeys(join(folder, 'keys.json'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const codec = openRecordCodec(topics.orders.value, 1, async () => null);
const opening = openSignOffKey(Buffer.from(readAuthority(keys, 'this test').openingSeed, 'hex'));
const publicOf = (seed: string) => Buffer.from(publicKeyOf(seed), 'hex');
const operator = publicOf(keys.operatorSeed);
const idOf = (publicKey: Buffer) => keyIdOf(publicKey).toString('hex');
/** Gives a reader what is there and waits for no batch, as the last one of a range is never done. */
class ReadableLog extends MemoryLog {
  override async reader({ topic, onBatch }: ReaderOptions) {
    const records = this.records(topic);
    setImmediate(
      () => void onBatch({ topic, partition: 0, records, highWatermark: records.length }),
    );
    return { position: () => 0, lagRecords: () => 0, ...loneReader, close: async () => {} };
  }
}

let log: ReadableLog;
let sequence = 0;
let mode: TradingMode = 'OPEN';
let found: PartitionsFound;

beforeEach(() => {
  log = new ReadableLog();
  sequence = 0;
  mode = 'OPEN';
});

async function append(commands: readonly Command[]): Promise<void> {
  sequence += 1;
  const value = sealEnvelope(codec, opening, { partition: 0, sequence, commands });
  await log.append({ topic: 'orders', partition: 0, key: null, value });
}

/** Set-up, where the keys with these ids were listed before; returns the commands of each record so far. */
async function setUp(
  listed: readonly string[],
  more: Partial<PartitionOpening> = {},
): Promise<readonly (readonly Command[])[]> {
  found = await openPartitions({
    ...(await place()),
    wasListed: (keyId) => listed.includes(keyId),
    ...more,
  });
  return envelopes().map(({ commands }) => commands);
}

async function place(): Promise<PartitionOpening> {
  return {
    client: log,
    admin: (await log.admin()) as LogAdmin,
    producer: (await log.producer()) as never,
    codec,
    ordersTopic: 'orders',
    partitions: 1,
    keys,
    feeWallet: `0x${'ab'.repeat(20)}` as WalletAddress,
    nowMs: 1_700_000_000_000,
    wasListed: () => false,
    listedKeys: () => [],
    tradingMode: async () => mode,
    kept: noKeptOpenings,
  };
}

function envelopes() {
  return log
    .records('orders')
    .filter(({ value }) => value?.[0] === 0)
    .map(({ value }) => codec.decode(value ?? Buffer.alloc(0)));
}

/** The state of the partition, as its matcher has it. */
function replayed(): Engine {
  const engine = new Engine(0);
  for (const [offset, envelope] of envelopes().entries()) {
    expect(envelope.keyId).toEqual(opening.keyId);
    engine.apply(envelope, offset);
  }
  return engine;
}

/** Partition 7 is opened beside this one, which was added. */
const added = { kept: { openingOf: () => null, openedPartitions: [7] } };

/** Records that others have written here: bytes of no schema, and a market under the key of the operator. */
async function writeOthers(): Promise<void> {
  await log.append({ topic: 'orders', partition: 0, key: null, value: Buffer.from('poison') });
  const key = openSignOffKey(Buffer.from(keys.operatorSeed, 'hex'));
  const content = { partition: 0, sequence: 1, commands: [setOperator()] };
  const value = sealEnvelope(codec, key, content);
  await log.append({ topic: 'orders', partition: 0, key: null, value });
}

const isFirst = async (offset: number) => {
  const place = { client: log, codec, ordersTopic: 'orders', openingKey: keys.openingKey };
  const value = await findOpening(place, 0, { low: 0, high: log.records('orders').length });
  return value !== null && value === log.records('orders')[offset]?.value;
};

const setOperator = (active = true): Command => ({
  kind: 'SetKey',
  publicKey: operator,
  role: 'OPERATOR',
  active,
});

/** The first record of the version before operators had a key of their own. */
const older: readonly Command[] = [
  {
    kind: 'OpenPartition',
    partition: 0,
    operatorKey: opening.publicKey,
    feeWallet: Buffer.alloc(20, 1),
    bookAgeLimitMs: 2_000,
    orderAgeLimitMs: 3_600_000,
    timeMs: 1,
  },
  { kind: 'SetRules', version: rules.operatorKeys - 1 },
  { kind: 'SetKey', publicKey: publicOf(keys.ledgerSeed), role: 'LEDGER', active: true },
];

test('a new partition lists the key of the operator beside the one that opens it', async () => {
  await setUp([]);
  const engine = replayed();
  expect(engine.operatorKey()).toEqual(opening.publicKey);
  expect(opening.publicKey).not.toEqual(operator);
  expect(engine.signOffKey(keyIdOf(operator))).toMatchObject({ role: 'OPERATOR', active: true });
});

test('a partition of an earlier version gets newer rules and the key of its operator', async () => {
  await append(older);
  const ledgerId = idOf(publicOf(keys.ledgerSeed));
  const [, added] = await setUp([ledgerId]);
  expect(added).toEqual([{ kind: 'SetRules', version: newestRules }, setOperator()]);
  expect(replayed().signOffKey(keyIdOf(operator))).toMatchObject({ active: true });
  await setUp([ledgerId, idOf(operator)]);
  expect(replayed().signOffKey(keyIdOf(operator))).toMatchObject({ active: true });
});

test('a key that was retired stays retired, whatever file of keys set-up starts with', async () => {
  await append(older);
  await setUp([]);
  await append([setOperator(false)]);
  await setUp([idOf(publicOf(keys.ledgerSeed)), idOf(operator)]);
  expect(replayed().signOffKey(keyIdOf(operator))).toMatchObject({ active: false });
});

test('a partition with records of others is opened behind them, once', async () => {
  await writeOthers();
  await setUp([], added);
  expect(found).toMatchObject({ opened: [0], behindOthers: [0], openBefore: [] });
  expect(await isFirst(2)).toBe(true);
  await setUp([idOf(publicOf(keys.ledgerSeed)), idOf(operator)], added);
  expect(found).toMatchObject({ opened: [], openBefore: [0] });
  expect(log.records('orders')).toHaveLength(3);
});

test('an opening that another key has signed opens nothing', async () => {
  const forger = openSignOffKey(Buffer.alloc(32, 9));
  const forged = { ...forger, keyId: opening.keyId };
  const [first] = older as readonly [Command];
  const commands = [{ ...first, operatorKey: opening.publicKey } as Command];
  const value = sealEnvelope(codec, forged, { partition: 0, sequence: 1, commands });
  await log.append({ topic: 'orders', partition: 0, key: null, value });
  await setUp([], added);
  expect(await isFirst(1)).toBe(true);
});

test('a first record says nothing of the log once the openings of other partitions are kept', async () => {
  await log.append({ topic: 'orders', partition: 0, key: null, value: foreignOpening() });
  const admin = { ...(await log.admin()), hasTopic: async () => true } as LogAdmin;
  const client = Object.assign(log, { admin: async () => admin });
  const place = { client, topicPrefix: '' };
  expect([...(await readOpenings(place)).keys()]).toEqual([0]);
  expect([...(await readOpenings(place, added)).keys()]).toEqual([]);
});

function foreignOpening(): Buffer {
  const forger = openSignOffKey(Buffer.alloc(32, 9));
  const [first] = older as readonly [Command];
  const commands = [{ ...first, operatorKey: forger.publicKey } as Command];
  return sealEnvelope(codec, forger, { partition: 0, sequence: 1, commands });
}

test('an added partition whose first records are gone stays unopened, and set-up goes on', async () => {
  await writeOthers();
  const admin = (await log.admin()) as LogAdmin;
  const cut = { ...admin, bounds: async () => new Map([[0, { low: 2, high: 2 }]]) };
  await setUp([], { ...added, admin: cut });
  expect(found).toMatchObject({ opened: [], cut: [0] });
  expect(partitionLines(found).join()).toContain('partition 0: WARNING: never opened');
  expect(log.records('orders')).toHaveLength(2);
  const gone = 'is gone and was never kept';
  await expect(setUp([], { admin: cut })).rejects.toThrow(gone);
});

test('a partition that the other topics do not have is left alone', async () => {
  const whole = { low: 0, high: 0 };
  const grown = { ...((await log.admin()) as LogAdmin), bounds: async () => bounds };
  const bounds = new Map([0, 1].map((partition) => [partition, whole] as const));
  await setUp([], { ...added, admin: grown });
  expect(found).toMatchObject({ opened: [0], openBefore: [], cut: [], locked: [] });
});

test('an added partition waits for the opening key, and set-up goes on', async () => {
  const away = { ...keys, authorityFile: join(folder, 'elsewhere.json') };
  await setUp([], { ...added, keys: away });
  expect(found).toMatchObject({ opened: [], locked: [0] });
  expect(partitionLines(found).join()).toContain('bring it back');
  expect(log.records('orders')).toEqual([]);
});

test('partitions are added to those in use until they are opened, whatever run has added them', async () => {
  expect(await opensMore(await place())).toBe(false);
  expect(await opensMore({ ...(await place()), ...added })).toBe(true);
  await setUp([], added);
  expect(await opensMore({ ...(await place()), ...added })).toBe(false);
});

test('an added partition begins with the mode that all markets have', async () => {
  mode = 'CANCEL_ONLY';
  const [commands = []] = await setUp([], added);
  expect(commands.at(-1)).toEqual({ kind: 'SetTradingMode', mode: 'CANCEL_ONLY' });
});

test('an added partition lists the keys that the others have, and none that was retired', async () => {
  const second = openSignOffKey(Buffer.alloc(32, 7)).publicKey;
  const [ingress, ledger, owner] = [keys.ingressSeed, keys.ledgerSeed, keys.ownerSeed].map(
    publicOf,
  );
  const listedKeys = () => [
    { role: 'INGRESS', publicKey: second } as const,
    { role: 'OPERATOR', publicKey: opening.publicKey } as const,
  ];
  await setUp([second, publicOf(keys.ledgerSeed)].map(idOf), { ...added, listedKeys });
  const engine = replayed();
  const stateOf = (key = ingress ?? second) => engine.signOffKey(keyIdOf(key))?.active ?? null;
  expect([second, ingress, owner, ledger].map((key) => stateOf(key))).toEqual([
    true,
    true,
    true,
    null,
  ]);
  expect(envelopes()[0]?.commands.filter(({ kind }) => kind === 'SetKey')).toHaveLength(4);
});

test('the mode of all markets is the one that was asked for last and not refused', () => {
  const asked = new AskedModes();
  const ask = (id: string, status: number, body = '{"mode":"HALTED"}') =>
    asked.take({ id, status, body, action: 'POST /operator/trading-mode' });
  expect(asked.newest).toBe('OPEN');
  ask('1', 0);
  ask('1', 503);
  asked.take({ id: '2', status: 0, body: '{"mode":"OPEN"}', action: 'POST /operator/catalog' });
  ask('3', 0, '{"mode":"OPEN"}');
  ask('3', 403, '{"mode":"OPEN"}');
  ask('4', 0, 'no JSON');
  expect(asked.newest).toBe('HALTED');
});
