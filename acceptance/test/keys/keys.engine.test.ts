import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findInstallation } from '@pm/deploy/installation/addresses';
import { logPlaceOf } from '@pm/deploy/installation/fee-wallet';
import { type ExchangeKeys, loadOrMakeKeys, publicKeyOf, saveKeys } from '@pm/deploy/setup/keys';
import { openSealedLog } from '@pm/domain/authority/sealed-log.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { type LogClient, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRegistry } from '@pm/kit/registry';
import { idOf } from '@pm/operate/keys/key-lists';
import { InstallationKeys } from '@pm/operate/keys/key-log';
import { type RetiredKeys, retireKeys, rotateKey } from '@pm/operate/keys/rotation';
import { ownKeys, shownKeys } from '@pm/operate/keys/shown-keys';
import { type Topic, topics } from '@pm/schemas';
import { engineUrl } from '../../../kit/test/engines.ts';
import {
  cancelAll,
  ExchangeUnderTest,
  type IngressProcess,
  order,
  place,
  type Trader,
  until,
} from '../exchange-under-test.ts';
import { variablesOf } from '../services-under-test.ts';

const partitions = 2;
let exchange: ExchangeUnderTest;
let client: LogClient;
let log: InstallationKeys;

beforeAll(async () => {
  exchange = await ExchangeUnderTest.open('keys', partitions);
  client = openLogClient({ brokers: [engineUrl('KAFKA')], clientId: 'keys', log: silentLog });
  const addresses = await findInstallation(variablesOf(exchange.name), '');
  log = await InstallationKeys.open(logPlaceOf(client, addresses), exchange.keys);
}, 180_000);

afterAll(async () => {
  await log?.close();
  await client?.close();
  await exchange?.close();
}, 60_000);

const path = () => join(exchange.folder, 'keys.json');
const file = {
  load: () => loadOrMakeKeys(path()),
  save: (keys: ExchangeKeys) => void saveKeys(keys, path()),
};
const places = () => ({ log, file, onStep: () => {} });
const retire = (which: RetiredKeys) => retireKeys(places(), which);
const idOfSeed = (seed: string) => idOf(Buffer.from(publicKeyOf(seed), 'hex'));
const nameOf = (topic: Topic) => `${exchange.name}-${topic.name}`;

/** Orders, in each market, one after the other, through the ingress that is named last, and their cancels. */
class Orders {
  readonly refused: unknown[] = [];
  placed = 0;
  #ingress: IngressProcess;
  #isOver = false;
  readonly #done: Promise<void>;

  constructor(ingress: IngressProcess, trader: Trader) {
    this.#ingress = ingress;
    this.#done = this.#run(trader);
  }

  /** Resolves when orders have come through it. */
  async use(ingress: IngressProcess): Promise<void> {
    this.#ingress = ingress;
    await this.more();
  }

  /** Resolves when some more orders are answered. */
  async more(): Promise<void> {
    const enough = this.placed + 3 * partitions;
    await until(async () => this.placed >= enough);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }

  async #run(trader: Trader): Promise<void> {
    while (!this.#isOver) {
      const ingress = this.#ingress;
      for (const token of exchange.tokens) {
        const { status, body } = await place(ingress, trader, [order(trader, token)]);
        const isBooked = status === 200 && body[0]?.success === true && body[0].status === 'live';
        if (isBooked) this.placed += 1;
        else this.refused.push({ status, body });
      }
      if ((await cancelAll(ingress, trader)).length !== partitions) this.refused.push('a cancel');
      await wait(20);
    }
  }
}

async function stop({ process }: IngressProcess): Promise<void> {
  process.kill('SIGTERM');
  if (process.exitCode === null && process.signalCode === null) await once(process, 'exit');
}

async function endOf(topic: Topic): Promise<number> {
  const admin = await client.admin();
  const bounds = await admin.bounds(nameOf(topic)).finally(() => admin.close());
  return [...bounds.values()].reduce((sum, { high }) => sum + high, 0);
}

/** Records that matchers have refused since their start because of their keys, as they count them. */
async function refusedKeys(): Promise<number> {
  const [, port = ''] =
    /"service":"matcher"[^\n]*"opsPort":(\d+)/.exec(exchange.services.said.join('')) ?? [];
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const rows = text.matchAll(
    /^pm_matcher_rejected_records_total\{[^}]*reason="UNKNOWN_KEY"[^}]*\} (\d+)$/gm,
  );
  return [...rows].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Appends an envelope to each partition that only its key may make wrong. */
async function sendSignedBy(seed: string): Promise<void> {
  const registry = openRegistry({
    url: engineUrl('REGISTRY'),
    topicPrefix: `${exchange.name}-`,
    log: silentLog,
  });
  const codec = await registry.codecFor(topics.orders);
  const key = openSignOffKey(Buffer.from(seed, 'hex'));
  const commands = [{ kind: 'Tick', timeMs: Date.now() } as const];
  const producer = await client.producer();
  for (let partition = 0; partition < partitions; partition += 1) {
    const sequence = Date.now() * 1_000;
    const value = sealEnvelope(codec, key, { partition, sequence, commands });
    await producer.send([{ topic: nameOf(topics.orders), partition, key: null, value }]);
  }
  await producer.close();
}

test('the key of ingress is rotated while orders go in, and refused once it is retired', async () => {
  const former = exchange.keys.ingressSeed;
  const formerId = idOfSeed(former);
  const trader = await exchange.openTrader('100');
  const orders = new Orders(exchange.ingresses[0], trader);
  await orders.more();
  await expect(retire({ id: formerId })).rejects.toThrow('is the key in use');

  const id = await rotateKey(places(), 'INGRESS');
  const { ingressSeed } = file.load();
  expect(id).toBe(idOfSeed(ingressSeed));
  expect(ingressSeed).not.toBe(former);
  await orders.more();
  const next = await exchange.openIngress('127.0.0.1', { PM_SIGNOFF_SEED: ingressSeed });
  await orders.use(next);
  for (const ingress of exchange.ingresses) await stop(ingress);
  await orders.more();

  const lettersBefore = await endOf(topics.deadLetters);
  await sendSignedBy(former);
  await orders.more();
  expect(await endOf(topics.deadLetters)).toBe(lettersBefore);
  expect(await retire({ role: 'INGRESS' })).toEqual([formerId]);
  await sendSignedBy(former);
  await until(async () => (await endOf(topics.deadLetters)) === lettersBefore + partitions);
  expect(await refusedKeys()).toBe(partitions);
  await orders.more();
  await orders.end();
  expect(orders.refused).toEqual([]);
  expect(orders.placed).toBeGreaterThan(20);
}, 240_000);

test('the lists name both keys, and a service with the retired one does not start', async () => {
  const former = exchange.keys.ingressSeed;
  const lines = shownKeys(await log.read(), ownKeys(file.load()));
  const lineOf = (seed: string) => lines.find((line) => line.includes(idOfSeed(seed)));
  const all = `in ${partitions} of ${partitions}`;
  expect(lineOf(former)).toContain(`orders: retired ${all}  service-keys: retired`);
  expect(lineOf(file.load().ingressSeed)).toMatch(/^ingress .* in use /);
  expect(lineOf(file.load().ingressSeed)).toContain(`orders: listed ${all}  service-keys: listed`);
  // Ingress, of both ages, owner, ledger and operator.
  expect(lines).toHaveLength(5);
  expect(lines.filter((line) => line.includes('ONLY'))).toEqual([]);
  const opened = openSealedLog({
    client,
    registry: openRegistry({
      url: engineUrl('REGISTRY'),
      topicPrefix: `${exchange.name}-`,
      log: silentLog,
    }),
    topicPrefix: `${exchange.name}-`,
    rootKey: Buffer.from(publicKeyOf(exchange.keys.rootSeed), 'hex'),
    sealing: [openSignOffKey(Buffer.from(former, 'hex'))],
    log: silentLog,
    onUnproven: () => {},
    onFault: () => {},
  });
  await expect(opened).rejects.toMatchObject({ code: 'service_key_not_listed' });
}, 60_000);
