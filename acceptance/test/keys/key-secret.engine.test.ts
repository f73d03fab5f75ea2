import type { ChildProcess } from 'node:child_process';
import { ExchangeClient } from '@pm/client';
import { freePorts } from '@pm/deploy/local/ports';
import { manyTimes } from '@pm/deploy/stack/services';
import {
  call,
  ExchangeUnderTest,
  type IngressProcess,
  type Trader,
  until,
} from '../exchange-under-test.ts';
import { FlowingOrders, partitions, patient, stop, stopFlows } from './rotation-under-test.ts';

let exchange: ExchangeUnderTest;
let former: Trader;

beforeAll(async () => {
  exchange = await ExchangeUnderTest.openLone('key_secret', partitions);
  former = await exchange.openTrader('100');
}, 180_000);

afterEach(stopFlows);

afterAll(() => exchange?.close(), 60_000);

/** Variables of the processes before the rotation and in its three steps (operator.md). */
function steps() {
  const { keySecret } = exchange.keys;
  const next = '5a'.repeat(32);
  return [
    { PM_KEY_SECRET: keySecret },
    { PM_KEY_SECRET: keySecret, PM_KEY_SECRETS_ACCEPTED: next },
    { PM_KEY_SECRET: next, PM_KEY_SECRETS_ACCEPTED: keySecret },
    { PM_KEY_SECRET: next },
  ] as const;
}

async function openReader(secrets: Readonly<Record<string, string>>) {
  const { queryApi: port } = await freePorts();
  const { bookSecret } = exchange.keys;
  const env = {
    PM_HTTP_PORT: String(port),
    PM_BOOK_SECRET: bookSecret,
    ...manyTimes,
    ...secrets,
  };
  const process = await exchange.services.startServing(
    () => exchange.services.start('query-api', env),
    async () => (await fetch(`http://127.0.0.1:${port}/ok`).catch(() => null)) !== null,
  );
  return { process, port };
}

type Process = { readonly port: number };

/** Status of a private request: a read of query-api, a cancel of ingress. */
async function cancelStatus(process: Process, trader: Trader): Promise<number> {
  return (await call(process, trader, 'DELETE', '/cancel-all')).status;
}

async function readStatus(process: Process, trader: Trader): Promise<number> {
  return (await call(process, trader, 'GET', '/data/orders')).status;
}

/** A key made at this ingress. */
async function keyMadeAt({ port }: Process, signer: Trader['signer']): Promise<Trader> {
  const client = new ExchangeClient({ baseUrl: `http://127.0.0.1:${port}`, signer });
  return { signer, trio: await client.connect(), domain: former.domain };
}

interface Running {
  readonly ingress: IngressProcess;
  readonly reader: Process & { readonly process: ChildProcess };
}

/**
 * Each process again with these secrets; `check` has the former ingress and the next one side by side. A second ingress
 * of each step would meet nothing that these two do not meet.
 */
async function restarted(
  { ingress, reader }: Running,
  secrets: Readonly<Record<string, string>>,
  check: (former: IngressProcess, next: IngressProcess) => Promise<void>,
): Promise<Running> {
  const next = await exchange.openIngress('127.0.0.1', secrets);
  await check(ingress, next);
  const readerOpening = openReader(secrets);
  await stop(ingress.process);
  const nextReader = await readerOpening;
  await stop(reader.process);
  return { ingress: next, reader: nextReader };
}

/** Each key opens each process, at once. */
async function expectOpen(
  { ingresses, reader }: { readonly ingresses: readonly Process[]; readonly reader: Process },
  traders: readonly Trader[],
): Promise<void> {
  for (const trader of traders) {
    for (const ingress of ingresses) expect(await cancelStatus(ingress, trader)).toBe(200);
    expect(await readStatus(reader, trader)).toBe(200);
  }
}

test('the secret of keys is rotated in three steps, and no process of either step refuses a good request', async () => {
  const [before, first, second, last] = steps();
  const signer = exchange.newSigner();
  await exchange.deposit(signer.address, '100');
  let running: Running = { ingress: exchange.ingress, reader: await openReader(before) };
  const opens = (trader: Trader) =>
    until(async () => (await readStatus(running.reader, trader)) === 200);
  await opens(former);
  const orders = new FlowingOrders(exchange.ingress, former, {
    tokens: exchange.tokens,
    sender: patient,
  });

  running = await restarted(running, first, async (_, next) => await orders.use(next));
  await opens(former);

  const made: Trader[] = [];
  running = await restarted(running, second, async (ingress, next) => {
    // A key of the next secret; the process of the step before learns of it from the log.
    made.push(await keyMadeAt(next, signer));
    for (const process of [ingress, next])
      for (const one of made) await until(async () => (await cancelStatus(process, one)) === 200);
    for (const one of made) await opens(one);
    await expectOpen({ ingresses: [ingress, next], reader: running.reader }, made);
    await orders.use(next);
  });
  for (const one of [former, ...made]) await opens(one);
  await orders.end();

  running = await restarted(running, last, async (ingress, next) => {
    await expectOpen({ ingresses: [ingress], reader: running.reader }, [former, ...made]);
    await expectOpen({ ingresses: [next], reader: running.reader }, made);
    expect(await cancelStatus(next, former)).toBe(401);
  });
  for (const one of made) await opens(one);
  expect(await readStatus(running.reader, former)).toBe(401);
  const { ingress } = running;
  const again = await keyMadeAt(ingress, former.signer);
  expect(again.trio.apiKey).not.toBe(former.trio.apiKey);
  expect(await cancelStatus(ingress, again)).toBe(200);
}, 300_000);
