import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noKeptOpenings } from '@pm/domain/signoff/first-envelope.io';
import { keyIdOf, openSignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import type { LogAdmin, ReaderOptions } from '@pm/kit/kafka';
import { openRecordCodec } from '@pm/kit/registry';
import { Engine } from '@pm/matcher/core';
import { type Command, newestRules, rules, topics, type WalletAddress } from '@pm/schemas';
import { MemoryLog } from '../../../domain/test/authority/memory-log.ts';
import { loneReader } from '../../../kit/test/kafka/lone-reader.ts';
import { loadOrMakeKeys, publicKeyOf, readAuthority } from '../../src/setup/keys.ts';
import { openPartitions } from '../../src/setup/partitions.ts';

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

beforeEach(() => {
  log = new ReadableLog();
  sequence = 0;
});

async function append(commands: readonly Command[]): Promise<void> {
  sequence += 1;
  const value = sealEnvelope(codec, opening, { partition: 0, sequence, commands });
  await log.append({ topic: 'orders', partition: 0, key: null, value });
}

/** Set-up, where the keys with these ids were listed before; returns the commands of each record so far. */
async function setUp(listed: readonly string[]): Promise<readonly (readonly Command[])[]> {
  await openPartitions({
    client: log,
    admin: (await log.admin()) as LogAdmin,
    producer: (await log.producer()) as never,
    codec,
    ordersTopic: 'orders',
    keys,
    feeWallet: `0x${'ab'.repeat(20)}` as WalletAddress,
    nowMs: 1_700_000_000_000,
    wasListed: (keyId) => listed.includes(keyId),
    kept: noKeptOpenings,
  });
  return envelopes().map(({ commands }) => commands);
}

function envelopes() {
  return log.records('orders').map(({ value }) => codec.decode(value ?? Buffer.alloc(0)));
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
