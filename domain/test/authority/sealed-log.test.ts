import { silentLog } from '@pm/kit/log';
import { openRecordCodec, Schemas } from '@pm/kit/registry';
import { type Topic, topics } from '@pm/schemas/log/topics';
import type { KeyRole } from '@pm/schemas/log/types';
import { ownListings, ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import {
  adoptUnsealed,
  listSchemas,
  publishServiceKey,
  reserveDeposits,
} from '../../src/authority/publish-service-key.io.ts';
import { openSealedLog, type SealedLog } from '../../src/authority/sealed-log.io.ts';
import { openSignOffKey, type SignOffKey } from '../../src/signoff/keys.ts';
import { MemoryLog } from './memory-log.ts';

const keyOf = (byte: number) => openSignOffKey(Buffer.alloc(32, byte));
const [root, ingress, operator, ledger, stranger] = [1, 2, 3, 4, 5].map(keyOf) as [
  SignOffKey,
  SignOffKey,
  SignOffKey,
  SignOffKey,
  SignOffKey,
];
const transferCodec = openRecordCodec(topics.transfers.value, 4, async () => null);
const credentials = `x-${topics.credentials.name}`;
let log: MemoryLog;
let place: Parameters<typeof publishServiceKey>[0];
let unproven: string[];

beforeEach(async () => {
  log = new MemoryLog();
  place = { client: log, schemas: new Schemas(), topicPrefix: 'x-', root, log: silentLog };
  unproven = [];
  await listSchemas(place, ownListings);
  await list('INGRESS', ingress);
  await list('OPERATOR', operator);
  await list('LEDGER', ledger);
});

function list(role: KeyRole, { publicKey }: SignOffKey, active = true): Promise<void> {
  return publishServiceKey(place, { publicKey, role, active });
}

function open(...sealing: readonly SignOffKey[]): Promise<SealedLog> {
  return openSealedLog({
    client: log,
    schemas: new Schemas(),
    topicPrefix: 'x-',
    rootKey: root.publicKey,
    sealing,
    log: silentLog,
    onUnproven: ({ topic, offset, reason }) => unproven.push(`${topic}:${offset} ${reason}`),
    onFault: (fault) => {
      throw fault;
    },
  });
}

const record = (topic: string, text: string) => ({
  topic,
  partition: 0,
  key: Buffer.from('k'),
  value: Buffer.from(text),
});

async function write(key: SignOffKey, topic: string, ...texts: readonly string[]): Promise<void> {
  const producer = await (await open(key)).producer();
  for (const text of texts) await producer.send([record(topic, text)]);
}

/** Texts of the records that a reader gets when it starts now. */
async function read(topic: string, sealed?: SealedLog): Promise<readonly string[]> {
  const texts: string[] = [];
  await (sealed ?? (await open())).reader({
    topic,
    positions: new Map([[0, 0]]),
    dense: false,
    onBatch: async ({ records }) => {
      for (const { value } of records) texts.push(value?.toString() ?? 'deleted');
    },
    onFault: () => {},
  });
  return texts;
}

/** Appends a record of the log once more, as it stands there. */
async function appendAgain(topic: string, offset: number): Promise<void> {
  const found = log.records(topic)[offset];
  if (found === undefined) throw new Error('no such record');
  await log.append({ ...found, topic, partition: 0 });
}

test('what a service seals is read, and topics without writers pass as they are', async () => {
  await write(ingress, credentials, 'made', 'revoked');
  await log.append(record('x-comments', 'plain'));
  expect(await read(credentials)).toEqual(['made', 'revoked']);
  expect(await read('x-comments')).toEqual(['plain']);
  expect(unproven).toEqual([]);
});

test('records without a seal, of strangers and of services that may not write the topic change nothing', async () => {
  await write(ingress, credentials, 'good');
  await log.append(record(credentials, 'unsealed'));
  const theirs = new MemoryLog();
  const others = { ...place, client: theirs, root: stranger };
  await publishServiceKey(others, { publicKey: stranger.publicKey, role: 'INGRESS', active: true });
  await write(operator, `x-${topics.walletStatus.name}`, 'elsewhere');
  const moved = log.records(`x-${topics.walletStatus.name}`)[0];
  await log.append({ ...record(credentials, 'moved'), headers: moved?.headers ?? {} });
  await log.append({ ...record(credentials, 'short'), headers: { 'pm-seal': Buffer.alloc(3) } });
  const good = log.records(credentials)[0];
  await log.append({ ...record(credentials, 'changed'), headers: good?.headers ?? {} });
  expect(await read(credentials)).toEqual(['good']);
  expect(unproven).toEqual([
    `${credentials}:1 unsealed`,
    `${credentials}:2 wrong_role`,
    `${credentials}:3 malformed`,
    `${credentials}:4 bad_signature`,
  ]);
});

test('keys that the root key did not list are no keys', async () => {
  const theirs = { ...place, root: stranger };
  await publishServiceKey(theirs, { publicKey: stranger.publicKey, role: 'INGRESS', active: true });
  await expect(open(stranger)).rejects.toMatchObject({ code: 'service_key_not_listed' });
  const offset = ownListings.length + 3;
  expect(unproven).toEqual([`x-${topics.serviceKeys.name}:${offset} unknown_key`]);
});

test('schemas are those that the root key has listed, and an id keeps its first one', async () => {
  const forged = { topic: topics.orders.name, schemaId: 500, schema: '"int"' };
  await listSchemas({ ...place, schemas: ownSchemas(), root: stranger }, [forged]);
  const [first, second] = ownListings;
  if (first === undefined || second === undefined) throw new Error('two topics');
  await listSchemas({ ...place, schemas: ownSchemas() }, [{ ...second, schemaId: first.schemaId }]);
  const schemas = new Schemas();
  await openSealedLog({
    ...place,
    schemas,
    rootKey: root.publicKey,
    sealing: [],
    onUnproven: () => {},
    onFault: () => {},
  });
  const known = new Map(schemas.all().map(({ topic, schemaId }) => [schemaId, topic]));
  expect(known).toEqual(new Map(ownListings.map(({ topic, schemaId }) => [schemaId, topic])));
});

test('an old record that is appended again changes nothing, also of a writer that is gone', async () => {
  await write(ingress, credentials, 'made', 'revoked');
  await appendAgain(credentials, 0);
  await write(ingress, credentials, 'by another process');
  await appendAgain(credentials, 1);
  await appendAgain(credentials, 0);
  expect(await read(credentials)).toEqual(['made', 'revoked', 'by another process']);
  expect(unproven).toEqual([`${credentials}:2 old`, `${credentials}:5 old`]);
});

test('the newest record of a writer once more is a repetition and not reported', async () => {
  await write(ingress, credentials, 'made');
  await appendAgain(credentials, 0);
  expect(await read(credentials)).toEqual(['made']);
  expect(unproven).toEqual([]);
});

test('a retired key counts up to its retirement, for readers before and after it alike', async () => {
  const old = await open(ingress);
  const producer = await old.producer();
  await producer.send([record(credentials, 'before')]);
  await list('INGRESS', ingress, false);
  await producer.send([record(credentials, 'after')]);
  expect(await read(credentials, old)).toEqual(['before']);
  expect(await read(credentials)).toEqual(['before']);
  await list('INGRESS', ingress);
  expect(await read(credentials)).toEqual(['before']);
  await expect(open(ingress)).rejects.toMatchObject({ code: 'service_key_not_listed' });
});

test('a reader learns of a key that was listed after its start', async () => {
  const early = await open();
  const next = keyOf(9);
  await list('INGRESS', next);
  await write(next, credentials, 'made');
  expect(await read(credentials, early)).toEqual(['made']);
});

test('records of an earlier version count where the root key adopted them, and later ones do not', async () => {
  await log.append(record(credentials, 'older'));
  await adoptUnsealed(place);
  await log.append(record(credentials, 'forged'));
  await adoptUnsealed(place);
  expect(await read(credentials)).toEqual(['older']);
  expect(unproven).toEqual([`${credentials}:1 unsealed`]);
});

const transfers = `x-${topics.transfers.name}`;
let made = 0;

/** A transfer of its own, as a service seals it. */
async function transfer(key: SignOffKey, amountMicro: number): Promise<void> {
  made += 1;
  const id = { transferId: Buffer.alloc(32, made), wallet: Buffer.alloc(20, 1) };
  const value = transferCodec.encode({ ...id, amountMicro, timeMs: 1, generation: 0 });
  const producer = await (await open(key)).producer();
  await producer.send([{ topic: transfers, partition: 0, key: null, value }]);
}

async function amounts(sealed?: SealedLog): Promise<readonly number[]> {
  const read: number[] = [];
  await (sealed ?? (await open())).reader({
    topic: transfers,
    positions: new Map([[0, 0]]),
    dense: false,
    onBatch: async ({ records }) => {
      for (const { value } of records)
        if (value !== null) read.push(transferCodec.decode(value).amountMicro);
    },
    onFault: () => {},
  });
  return read;
}

test('once deposits are reserved, services that pay or fence can bring no money', async () => {
  await reserveDeposits(place);
  await transfer(operator, 5);
  for (const key of [ingress, ledger]) {
    await transfer(key, 7);
    await transfer(key, -2);
    await transfer(key, 0);
  }
  expect(await amounts()).toEqual([5, -2, 0, -2, 0]);
  expect(unproven).toEqual([`${transfers}:1 foreign_deposit`, `${transfers}:4 foreign_deposit`]);
});

test('deposits that others sealed before that count for ever, and a second reservation moves nothing', async () => {
  await transfer(ingress, 3);
  expect((await open()).hasReservedDeposits).toBe(false);
  await reserveDeposits(place);
  await transfer(ingress, 4);
  await transfer(operator, 5);
  await reserveDeposits(place);
  expect((await open()).hasReservedDeposits).toBe(true);
  expect(await amounts()).toEqual([3, 5]);
  expect(unproven).toEqual([`${transfers}:1 foreign_deposit`]);
});

test('a process without a key for a topic cannot write it', async () => {
  const producer = await (await open(ledger)).producer();
  await expect(async () => producer.send([record(credentials, 'made')])).rejects.toMatchObject({
    code: 'not_a_writer',
  });
});

test('every topic that moves money or grants rights has writers', () => {
  const sealed = Object.values<Topic>(topics).filter(({ writers }) => writers !== undefined);
  expect(sealed.map(({ name }) => name).sort()).toEqual([
    'agents',
    'approvals',
    'catalog',
    'credentials',
    'read-keys',
    'routing',
    'service-keys',
    'sessions',
    'transfers',
    'wallet-owners',
    'wallet-status',
    'withdrawal-freezes',
  ]);
});
