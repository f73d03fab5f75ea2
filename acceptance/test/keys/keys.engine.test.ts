import { openSealedLog } from '@pm/domain/authority/sealed-log.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { silentLog } from '@pm/kit/log';
import { ownKeys, shownKeys } from '@pm/operate/keys/shown-keys';
import { until } from '../exchange-under-test.ts';
import {
  FlowingOrders,
  idOfSeed,
  partitions,
  RotationUnderTest,
  stop,
  stopFlows,
} from './rotation-under-test.ts';

let rotation: RotationUnderTest;

beforeAll(async () => {
  rotation = await RotationUnderTest.open('keys');
}, 180_000);

afterEach(stopFlows);

afterAll(() => rotation?.close(), 60_000);

/** Records that matchers have refused since their start because of their keys, as they count them. */
async function refusedKeys(): Promise<number> {
  const said = rotation.exchange.services.said.join('');
  const [, port = ''] = /"service":"matcher"[^\n]*"opsPort":(\d+)/.exec(said) ?? [];
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const rows = text.matchAll(
    /^pm_matcher_rejected_records_total\{[^}]*reason="UNKNOWN_KEY"[^}]*\} (\d+)$/gm,
  );
  return [...rows].reduce((sum, [, count]) => sum + Number(count), 0);
}

test('the key of ingress is rotated while orders go in, and refused once it is retired', async () => {
  const { exchange } = rotation;
  const former = exchange.keys.ingressSeed;
  const formerId = idOfSeed(former);
  const trader = await exchange.openTrader('100');
  const orders = new FlowingOrders(exchange.ingress, trader, exchange);
  await orders.more();
  await expect(rotation.retire({ id: formerId })).rejects.toThrow('is the key in use');

  const id = await rotation.rotate('INGRESS');
  const { ingressSeed } = rotation.keys();
  expect(id).toBe(idOfSeed(ingressSeed));
  expect(ingressSeed).not.toBe(former);
  await orders.more();
  const next = await exchange.openIngress('127.0.0.1', { PM_SIGNOFF_SEED: ingressSeed });
  await orders.use(next);
  await stop(exchange.ingress.process);
  await orders.more();

  const tick = [{ kind: 'Tick', term: 0, timeMs: Date.now() }] as const;
  await rotation.sendSignedBy(former, tick);
  await orders.more();
  expect(await rotation.rejected('UNKNOWN_KEY')).toBe(0);
  expect(await rotation.retire({ role: 'INGRESS' })).toEqual([formerId]);
  await rotation.sendSignedBy(former, tick);
  await rotation.awaitRejected('UNKNOWN_KEY', 0);
  await until(async () => (await refusedKeys()) === partitions);
  await orders.more();
  await orders.end();
}, 240_000);

test('the lists name both keys, and a service with the retired one does not start', async () => {
  const { client, exchange, schemas } = rotation;
  const former = exchange.keys.ingressSeed;
  const lines = shownKeys(await rotation.log.read(), ownKeys(rotation.keys()));
  const lineOf = (seed: string) => lines.find((line) => line.includes(idOfSeed(seed)));
  const all = `in ${partitions} of ${partitions}`;
  expect(lineOf(former)).toContain(`orders: retired ${all}  service-keys: retired`);
  expect(lineOf(rotation.keys().ingressSeed)).toMatch(/^ingress .* in use /);
  expect(lineOf(rotation.keys().ingressSeed)).toContain(
    `orders: listed ${all}  service-keys: listed`,
  );
  // Ingress, of both ages, owner, ledger, operator and the opening key.
  expect(lines).toHaveLength(6);
  expect(lines.filter((line) => line.includes('ONLY'))).toEqual([]);
  const opened = openSealedLog({
    client,
    schemas,
    topicPrefix: `${exchange.name}-`,
    rootKey: Buffer.from(exchange.keys.rootKey, 'hex'),
    sealing: [openSignOffKey(Buffer.from(former, 'hex'))],
    log: silentLog,
    onUnproven: () => {},
    onFault: () => {},
  });
  await expect(opened).rejects.toMatchObject({ code: 'service_key_not_listed' });
}, 60_000);
