import { findInstallation } from '@pm/deploy/installation/addresses';
import { type Installation, logPlaceOf, openInstallation } from '@pm/deploy/installation/open';
import { freePorts } from '@pm/deploy/local/ports';
import { manyTimes } from '@pm/deploy/stack/services';
import { sealHeader, sealRecord } from '@pm/domain/authority/seal';
import { openSignOffKey, type SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import {
  type IncomingRecord,
  type LogClient,
  type LogProducer,
  type OutgoingRecord,
  openLogClient,
  readRange,
} from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { checkSeals } from '@pm/operate/audit/seals';
import type { WalletAddress } from '@pm/schemas/ids';
import type { CatalogEntry } from '@pm/schemas/log/catalog';
import { type Topic, topics } from '@pm/schemas/log/topics';
import { engineUrl } from '../../../kit/test/engines.ts';
import {
  call,
  ExchangeUnderTest,
  type IngressProcess,
  type OperatorProcess,
  order,
  place,
  type Trader,
  until,
} from '../exchange-under-test.ts';
import { variablesOf } from '../services-under-test.ts';
import { decisionsAbout, haltOf, valuesAbout } from './forged-values.ts';

// A writer on the broker who holds no key of a service.
let exchange: ExchangeUnderTest;
let client: LogClient;
let producer: LogProducer;
let installation: Installation;
let queryApi: { url: string; opsUrl: string };
/** Records that were forged before the first test. */
let forged: {
  readonly withoutKey: Forged;
  readonly revoked: Pick<Forged, 'trader' | 'named'>;
  readonly byIngress: Forged & { readonly haltOffset: number };
};
/** Processes that started after all of it. */
let late: { readonly ingress: IngressProcess; readonly operator: OperatorProcess };
const foreign = openSignOffKey(Buffer.alloc(32, 66));
/** The schemas that its log lists. */
const listedSchemas = () =>
  logPlaceOf(client, { topicPrefix: `${exchange.name}-`, rootKey: exchange.keys.rootKey }).schemas;

beforeAll(async () => {
  exchange = await ExchangeUnderTest.openLone('authority', 1);
  client = openLogClient({ brokers: [engineUrl('KAFKA')], clientId: 'forger', log: silentLog });
  producer = await client.producer();
  installation = openInstallation(
    await findInstallation(variablesOf(exchange.name), ''),
    'authority',
  );
  const ports = await freePorts();
  const env = {
    PM_HTTP_PORT: String(ports.queryApi),
    PM_OPS_PORT: String(ports.queryApiOps),
    PM_KEY_SECRET: exchange.keys.keySecret,
    PM_BOOK_SECRET: exchange.keys.bookSecret,
    ...manyTimes,
  };
  const local = (port: number) => `http://127.0.0.1:${port}`;
  queryApi = { url: local(ports.queryApi), opsUrl: local(ports.queryApiOps) };
  await exchange.services.startServing(
    () => exchange.services.start('query-api', env),
    async () => (await question()) === 'Entry 0?',
  );
  forged = {
    withoutKey: await forgeWithoutKey(),
    revoked: await repeatRevoked(),
    byIngress: await forgeByIngress(),
  };
  await settle();
  const starting = [exchange.openIngress(), exchange.openOperator()] as const;
  const [ingress, operator] = await Promise.all(starting);
  late = { ingress, operator };
}, 300_000);

afterAll(async () => {
  await installation?.close();
  await client?.close();
  await exchange?.close();
}, 60_000);

/** Records that an attacker appended, each as the check of seals names it, and the wallets that they are about. */
interface Forged {
  readonly trader: Trader;
  /** A contract wallet that has no owner. */
  readonly unbound: WalletAddress;
  readonly named: readonly string[];
}

const nameOf = (topic: Topic) => `${exchange.name}-${topic.name}`;

async function question(): Promise<string | null> {
  const response = await fetch(`${queryApi.url}/markets/slug/entry-0`).catch(() => null);
  if (response?.ok !== true) return null;
  return ((await response.json()) as { question: string }).question;
}

async function recordsOf(topic: Topic): Promise<readonly IncomingRecord[]> {
  const admin = await client.admin();
  const bounds = (await admin.bounds(nameOf(topic)).finally(() => admin.close())).get(0);
  const records: IncomingRecord[] = [];
  await readRange(client, {
    topic: nameOf(topic),
    partition: 0,
    from: 0,
    to: bounds?.high ?? 0,
    dense: false,
    onBatch: async (batch) => {
      records.push(...batch.records);
    },
  });
  return records;
}

/** The record as the first one of a writer that has this key. */
function sealedBy(key: SignOffKey, writer: number, record: OutgoingRecord): OutgoingRecord {
  const seal = sealRecord(key, { writer: Buffer.alloc(8, writer), sequence: 1 }, record);
  return { ...record, headers: { [sealHeader]: seal } };
}

/** Appends a record without a seal, with one of a foreign key, and with one of a service that may not write it. */
async function forge(topic: Topic, key: string | Buffer, value: Buffer): Promise<string[]> {
  const record = { topic: nameOf(topic), partition: 0, key: Buffer.from(key), value };
  const owner = openSignOffKey(Buffer.from(exchange.keys.ownerSeed, 'hex'));
  const forged = [record, ...[foreign, owner].map((one) => sealedBy(one, 1, record))];
  const reasons = ['unsealed', 'unknown_key', 'wrong_role'];
  const places = await producer.send(forged);
  return places.map(({ offset }, index) => `${nameOf(topic)}:0:${offset} ${reasons[index]}`);
}

/** Deposits under the seals of services that write `transfers`, and may bring no money. */
async function depositWithout(wallet: WalletAddress, value: Buffer): Promise<string[]> {
  const { ingressSeed, ledgerSeed } = exchange.keys;
  const key = Buffer.from(wallet);
  const record = { topic: nameOf(topics.transfers), partition: 0, key, value };
  const forged = [ingressSeed, ledgerSeed].map((seed, index) =>
    sealedBy(openSignOffKey(Buffer.from(seed, 'hex')), 2 + index, record),
  );
  const places = await producer.send(forged);
  return places.map(({ offset }) => `${record.topic}:0:${offset} foreign_deposit`);
}

/** Appends a record as it stands on the log once more. */
async function again(topic: Topic, { key, value, headers }: IncomingRecord): Promise<string[]> {
  const record: OutgoingRecord = {
    topic: nameOf(topic),
    partition: 0,
    key,
    value,
    headers: headers ?? {},
  };
  const [place] = await producer.send([record]);
  return [`${nameOf(topic)}:0:${place?.offset} old`];
}

const statusOf = async (wallet: WalletAddress) =>
  (await exchange.operate('GET', `wallets/${wallet}/status`)).body as { status: string };

async function setStatus(wallet: WalletAddress, status: string): Promise<void> {
  const set = await exchange.operate('POST', `wallets/${wallet}/status`, { status, reason: 'why' });
  expect(set.status).toBe(200);
}

const freeOf = async ({ signer }: Trader) =>
  (await exchange.ledger.balance(signer.address)).freeMicro;

/** All that an attacker would change, as the API shows it. */
async function expectUnchanged({ trader, unbound }: Forged): Promise<void> {
  for (const ingress of [exchange.ingress, late.ingress])
    expect((await call(ingress, trader, 'DELETE', '/cancel-all')).status).toBe(200);
  for (const { port } of [exchange.operatorProcess, late.operator]) {
    const token = exchange.keys.operatorToken;
    const read = async (path: string) => {
      const url = `http://127.0.0.1:${port}/operator/wallets/${path}`;
      const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      return await response.json();
    };
    expect(await read(`${trader.signer.address}/status`)).toMatchObject({ status: 'normal' });
    expect(await read(`${unbound}/owner`)).toMatchObject({ owner: null });
  }
  expect(await question()).toBe('Entry 0?');
  expect(await freeOf(trader)).toBe(100_000_000);
}

/** Waits until every reader has passed what is on the log now: later changes by the operator have come through. */
async function settle(): Promise<void> {
  const other = await exchange.openTrader('1');
  await setStatus(other.signer.address, 'closed_only');
  await until(async () => (await statusOf(other.signer.address)).status === 'closed_only');
  await exchange.operator.importEvents([
    {
      slug: `later-${Date.now()}`,
      title: 'Later',
      markets: [{ slug: `later-${Date.now()}`, question: 'Later?' }],
    },
  ]);
  await until(async () => {
    const text = await (await fetch(`${queryApi.opsUrl}/metrics`)).text();
    return text.includes('pm_unproven_records_total{');
  });
}

/** Records of every kind by who has no key of their writers, and one that is on the log already. */
async function forgeWithoutKey(): Promise<Forged> {
  const trader = await exchange.openTrader('100');
  const wallet = trader.signer.address;
  const unbound = `0x${'ab'.repeat(20)}` as WalletAddress;
  await setStatus(wallet, 'closed_only');
  await setStatus(wallet, 'normal');
  const codecs = listedSchemas();
  const catalog = await codecs.codecFor(topics.catalog);
  const listed = (await recordsOf(topics.catalog)).find(
    ({ value }) => value !== null && catalog.decode(value).kind === 'CatalogMarket',
  );
  if (listed?.value == null || listed.key === null) throw new Error('a market');
  const market: CatalogEntry = catalog.decode(listed.value);
  const changed = catalog.encode({ ...market, question: 'Forged?' } as CatalogEntry);
  const values = await valuesAbout(codecs, { wallet, unbound }, trader.trio.apiKey);
  const named = [
    ...(await forge(topics.transfers, wallet, values.deposit)),
    ...(await depositWithout(wallet, values.deposit)),
    ...(await forge(topics.credentials, trader.trio.apiKey, values.credential)),
    ...(await forge(topics.walletStatus, wallet, values.status)),
    ...(await forge(topics.walletOwners, unbound, values.owner)),
    ...(await forge(topics.catalog, listed.key, changed)),
  ];
  const closed = (await recordsOf(topics.walletStatus)).at(-5);
  if (closed === undefined) throw new Error('a status');
  named.push(...(await again(topics.walletStatus, closed)));
  return { trader, unbound, named };
}

/** The record that made a key, once more after the key was revoked. */
async function repeatRevoked(): Promise<typeof forged.revoked> {
  const trader = await exchange.openTrader('1');
  const created = (await recordsOf(topics.credentials)).at(-1);
  expect(created?.key?.toString()).toBe(trader.trio.apiKey);
  const revoked = await call(exchange.ingress, trader, 'DELETE', '/auth/api-key');
  expect(revoked.status).toBe(200);
  if (created === undefined) throw new Error('a credential');
  return { trader, named: await again(topics.credentials, created) };
}

/** Writes records that require the key of the operator, sealed and signed with the key of ingress. */
async function forgeByIngress(): Promise<typeof forged.byIngress> {
  const trader = await exchange.openTrader('100');
  const { address: wallet } = trader.signer;
  const unbound = `0x${'ac'.repeat(20)}` as WalletAddress;
  const codecs = listedSchemas();
  const catalog = await codecs.codecFor(topics.catalog);
  const markets = (await recordsOf(topics.catalog)).flatMap(({ value }) => {
    const entry = value === null ? null : catalog.decode(value);
    return entry?.kind === 'CatalogMarket' && entry.slug === 'entry-0' ? [entry] : [];
  });
  const market = markets.at(-1);
  if (market === undefined) throw new Error('a market');
  const written = await decisionsAbout(codecs, { wallet, unbound }, market);
  const ingress = openSignOffKey(Buffer.from(exchange.keys.ingressSeed, 'hex'));
  const named: string[] = [];
  for (const [sequence, [topic, key, value]] of written.entries()) {
    const record = { topic: nameOf(topic), partition: 0, key: Buffer.from(key), value };
    const seal = sealRecord(ingress, { writer: Buffer.alloc(8, 2), sequence }, record);
    const [at] = await producer.send([{ ...record, headers: { [sealHeader]: seal } }]);
    named.push(`${record.topic}:0:${at?.offset} wrong_role`);
  }
  const envelopes = await codecs.codecFor(topics.orders);
  const content = { partition: 0, sequence: Date.now(), commands: [haltOf(market)] };
  const value = sealEnvelope(envelopes, ingress, content);
  const [sent] = await producer.send([
    { topic: nameOf(topics.orders), partition: 0, key: null, value },
  ]);
  return { trader, unbound, named, haltOffset: sent?.offset ?? -1 };
}

test('forged and repeated records of every kind change nothing and are named', async () => {
  const { withoutKey, revoked, byIngress } = forged;
  await expectUnchanged(withoutKey);
  const { unproven } = await checkSeals(installation);
  const named = [withoutKey, revoked, byIngress].flatMap((some) => some.named);
  expect([...unproven].sort()).toEqual(named.sort());
  const text = await (await fetch(`${queryApi.opsUrl}/metrics`)).text();
  for (const reason of ['unsealed', 'unknown_key', 'wrong_role'])
    expect(text).toContain(`topic="${nameOf(topics.catalog)}",reason="${reason}"`);
}, 180_000);

test('a revoked key stays revoked when its record is appended again', async () => {
  const { trader } = forged.revoked;
  for (const ingress of [exchange.ingress, late.ingress])
    expect((await call(ingress, trader, 'DELETE', '/cancel-all')).status).toBe(401);
}, 180_000);

test('the key of ingress seals and signs nothing that takes the key of the operator', async () => {
  const { trader, named, haltOffset } = forged.byIngress;
  await expectUnchanged(forged.byIngress);
  const executions = await listedSchemas().codecFor(topics.executions);
  const outcomes = (await recordsOf(topics.executions)).flatMap((record) => {
    const execution = record.value === null ? null : executions.decode(record.value);
    return execution?.inOffset === haltOffset ? [...execution.events] : [];
  });
  expect(outcomes).toMatchObject([{ kind: 'RecordRejected', reason: 'NOT_ALLOWED' }]);
  const bid = order(trader, exchange.tokens[0] ?? '');
  for (const process of [exchange.ingress, late.ingress]) {
    const { body } = await place(process, trader, [bid]);
    expect(body[0]).toMatchObject({ success: true, status: 'live' });
  }
  const { unproven } = await checkSeals(installation);
  expect(unproven).toEqual(expect.arrayContaining(named));
}, 180_000);
