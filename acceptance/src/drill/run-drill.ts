import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testAccounts } from '@pm/deploy/demo/wallets';
import { openInstallation } from '@pm/deploy/installation/open';
import { addressesOf } from '@pm/deploy/installation/read-addresses';
import type { Progress } from '@pm/deploy/local/managed-process';
import { loopback, type PortName } from '@pm/deploy/local/ports';
import { restoreRegistry } from '@pm/deploy/setup/exchange-setup';
import { setUpTables } from '@pm/deploy/setup/tables';
import { storeFolderIn } from '@pm/deploy/stack/services';
import { openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { Random } from '@pm/kit/random';
import { runAudit } from '@pm/operate/audit/run-audit';
import { nothingReceived, Trader } from '../smoke/trader.ts';
import type { World } from '../smoke/world.ts';

/** What is lost, and what an operator does then beside starting processes again. */
interface Loss {
  readonly name: string;
  /** Resolves when everything that was lost runs again, or is being started. */
  lose(world: World): Promise<void>;
}

export interface DrillResult {
  readonly name: string;
  /** From the loss to the next order that is booked and can be read, milliseconds. */
  readonly ordersMs: number;
  /** From the loss until every service says that it is ready, the tables among them, milliseconds. */
  readonly serviceMs: number;
  /** Checks of the audit that do not hold. */
  readonly wrong: readonly string[];
}

const traderCount = 3;
/** Longest time to full service after a loss, milliseconds. */
const serviceMaxMs = 300_000;
/** Time for projections to reach the end of the log before an audit, milliseconds. */
const auditWaitMs = 120_000;
/** Every checkpoint and copy is there after this, milliseconds. */
const copiedMaxMs = 120_000;
const pollMs = 50;

const services = ['matcher', 'projectors', 'ingress', 'operator', 'query-api', 'streams'] as const;
const opsPorts = [
  'matcherOps',
  'projectorsOps',
  'ingressOps',
  'operatorOps',
  'queryApiOps',
  'streamsOps',
] as const satisfies readonly PortName[];

/** In this order. The disks of a host come last, with all of its services at once. */
const losses: readonly Loss[] = [
  { name: 'data of Redis', lose: (world) => loseEngine(world, 'redis') },
  {
    name: 'data of ClickHouse',
    lose: async (world) => {
      await loseEngine(world, 'clickhouse');
      const { urls, access, supervisor } = world.stack;
      const addresses = addressesOf(urls, access);
      await setUpTables(addresses, () => {});
      await supervisor.restart('projectors');
    },
  },
  { name: 'contents of the registry', lose: loseRegistry },
  {
    name: 'disks of matcher and projectors',
    lose: (world) => loseHosts(world, services.slice(0, 2)),
  },
  { name: 'a new host for all services', lose: (world) => loseHosts(world, services) },
];

/**
 * Loses one thing after the other while orders flow, and measures the time to the next order and to full service. After
 * each the audit must be clean.
 */
export async function runDrill(
  world: World,
  { orders, progress }: { readonly orders: number; readonly progress: Progress },
): Promise<readonly DrillResult[]> {
  const traders = await openTraders(world);
  const results: DrillResult[] = [];
  for (const { name, lose } of losses) {
    progress(`trading before the loss of: ${name}`);
    await trade(world, traders, orders);
    await untilCopied(world);
    progress(`losing: ${name}`);
    const lostMs = performance.now();
    const elapsedMs = () => Math.round(performance.now() - lostMs);
    await lose(world);
    await placeOne(world, traders);
    const ordersMs = elapsedMs();
    progress(`${name}: an order is booked after ${ordersMs} ms`);
    await untilReady(world);
    const serviceMs = elapsedMs();
    progress(`${name}: full service after ${serviceMs} ms; audit`);
    const wrong = await audit(world);
    results.push({ name, ordersMs, serviceMs, wrong });
    progress(`${name}: ${wrong.length === 0 ? 'the audit is clean' : wrong.join(', ')}`);
  }
  return results;
}

async function openTraders({ stack }: World): Promise<readonly Trader[]> {
  const received = nothingReceived();
  const traders = testAccounts()
    .slice(0, traderCount)
    .map(
      (signer, index) => new Trader(stack.baseUrl, signer, { received, random: new Random(index) }),
    );
  await Promise.all(traders.map((trader) => trader.connect()));
  return traders;
}

async function trade(world: World, traders: readonly Trader[], orders: number): Promise<void> {
  await Promise.all(
    traders.map(async (trader, index) => {
      const random = new Random(index + 100);
      for (let sent = 0; sent < orders / traders.length; sent += 1)
        await trader.act(random.pick(world.markets));
    }),
  );
}

/** Folder of the data of the stack. */
const dataDirOf = ({ stack }: World): string => dirname(stack.logDir);

async function loseEngine(world: World, name: 'redis' | 'clickhouse'): Promise<void> {
  const folder = join(dataDirOf(world), 'engines', name);
  await world.stack.supervisor.restart(name, () => rm(folder, { recursive: true, force: true }));
}

/** Its schemas are in topics of its own. Services start again one after the other, and set-up puts the schemas back. */
async function loseRegistry({ stack }: World): Promise<void> {
  const { urls, access, supervisor, keys } = stack;
  const client = openLogClient({ brokers: [urls.kafka], clientId: 'drill', log: silentLog });
  const admin = await client.admin();
  await supervisor.restart('registry', async () => {
    for (const topic of registryTopics)
      if (await admin.hasTopic(topic)) await admin.deleteTopic(topic);
  });
  await client.close();
  for (const name of services) await supervisor.restart(name);
  await restoreRegistry({ urls, access, keys, progress: () => {} });
}

/** Where Apicurio keeps its schemas (apicurio.storage.kind=kafkasql). */
const registryTopics = ['kafkasql-journal', 'kafkasql-snapshots', 'registry-events'];

/** Kills services and empties the disk of their host; the supervisor starts them again, as an orchestrator does. */
async function loseHosts(world: World, names: readonly string[]): Promise<void> {
  for (const name of names) world.stack.supervisor.kill(name, 'SIGKILL');
  for (const folder of ['snapshots', 'streams'])
    await rm(join(dataDirOf(world), folder), { recursive: true, force: true });
}

/** Waits until the store has a snapshot of every partition and checkpoints. */
async function untilCopied(world: World): Promise<void> {
  const store = storeFolderIn(dataDirOf(world));
  const has = (folder: string) =>
    existsSync(join(store, folder)) && readdirSync(join(store, folder)).length > 0;
  const folders = [
    'checkpoints/ledger',
    ...Array.from({ length: 8 }, (_, partition) => `snapshots/p${partition}`),
    ...Array.from({ length: 8 }, (_, partition) => `checkpoints/books/p${partition}`),
  ];
  await until(copiedMaxMs, 'checkpoints and copies in the store', async () => folders.every(has));
}

/** Sends an order until it is booked. Where a loss has not been noticed yet, this notices it. */
async function placeOne(world: World, [trader]: readonly Trader[]): Promise<void> {
  const [market] = world.markets;
  if (trader !== undefined && market !== undefined) await trader.timeOne(market);
}

async function untilReady({ stack }: World): Promise<void> {
  await until(serviceMaxMs, 'full service', async () => {
    const answers = await Promise.all(
      opsPorts.map((name) => fetch(`http://${loopback}:${stack.ports[name]}/ready`)),
    );
    return answers.every(({ ok }) => ok);
  });
}

async function until(maxMs: number, what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + maxMs;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > deadlineMs) throw new Error(`not within ${maxMs} ms: ${what}`);
    await sleep(pollMs);
  }
}

async function audit({ stack, accessOf }: World): Promise<readonly string[]> {
  const rootKey = stack.keys.rootKey;
  const addresses = { ...addressesOf(stack.urls, accessOf('audit')), rootKey };
  const installation = openInstallation(addresses, 'drill');
  const wrong: string[] = [];
  try {
    const holds = await runAudit(installation, {
      waitMs: auditWaitMs,
      seed: 1,
      onProgress: () => {},
      onCheck: (check) => {
        if (check.wrong.length > 0) wrong.push(`${check.name}: ${check.wrong[0]}`);
      },
    });
    return holds || wrong.length > 0 ? wrong : ['the audit did not come to an end'];
  } finally {
    await installation.close();
  }
}
