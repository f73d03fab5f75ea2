import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mebibyte } from '@pm/deploy/local/managed-process';
import { freePorts, type Ports } from '@pm/deploy/local/ports';
import type { ExtraEnv } from '@pm/deploy/stack/services';
import { type RunningStack, type StackOptions, startStack } from '@pm/deploy/stack/stack';
import { MovableClocks } from '../faults/movable-clocks.ts';
import { fillWorld, smokePlan, type WorldPlan, worldOptions } from '../smoke/world.ts';
import { type DrillTls, openDrillTls } from './drill-tls.ts';
import { DrillTraders } from './drill-traders.ts';
import { DrilledExchange, type DrillFolders, services } from './drilled-exchange.ts';
import { mayMount, mountDisk } from './mounts.ts';
import { audit, type DrillPace, type DrillWorld, untilCopied } from './run-drill.ts';

/** Disk of the exchange under drill where one may be mounted. */
const diskBytes = 8_192 * mebibyte;
/** Enough for the orders of all accidents. */
const depositUsdc = '1000000';
const partitions = 4;
const plan: WorldPlan = smokePlan({ depositUsdc, partitions });

/** Copies and checkpoints often enough for accidents of minutes. */
const often: ExtraEnv = {
  matcher: { PM_SNAPSHOT_EVERY_MS: '2000', PM_SNAPSHOT_COPY_EVERY_MS: '2000' },
  projectors: { PM_CHECKPOINT_EVERY_MS: '5000' },
};

export interface Drill extends DrillWorld {
  /** Ends everything and removes all folders. */
  end(): Promise<void>;
}

/**
 * An exchange that has traded, with an older copy of its data folder, a backup, and the data folder of another
 * installation, which has traded before on the same ports.
 */
export async function openDrill(pace: DrillPace): Promise<Drill> {
  const root = mkdtempSync(join(tmpdir(), 'exchange-drill-'));
  const folders = await makeFolders(root);
  const clocks = new MovableClocks(services);
  const ports = await freePorts();
  const tls = await openDrillTls(join(root, 'tls'), ports);
  const place = { ports, progress: pace.progress, env: envOf(clocks, tls) };
  const options = optionsAt({ ...place, dataDir: folders.data });
  const exchange = new DrilledExchange(folders, { options, clocks, tls, diskBytes });
  const end = async () => {
    await exchange.end();
    await tls.close();
    clocks.close();
    rmSync(root, { recursive: true, force: true });
  };
  try {
    pace.progress('another installation');
    await makeOther(optionsAt({ ...place, dataDir: folders.other }), pace);
    pace.progress('the exchange under drill');
    return { ...(await makeDrilled(exchange, pace)), end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function makeFolders(root: string): Promise<DrillFolders> {
  const folders = {
    data: join(root, 'data'),
    older: join(root, 'older'),
    other: join(root, 'other'),
    backups: join(root, 'backups'),
    passphrase: join(root, 'passphrase'),
  };
  mkdirSync(folders.data);
  if (mayMount()) await mountDisk(folders.data, diskBytes);
  writeFileSync(folders.passphrase, randomBytes(24).toString('hex'), { mode: 0o600 });
  return folders;
}

/** Variables of each service. */
function envOf(clocks: MovableClocks, tls: DrillTls): ExtraEnv {
  const clockEnv = clocks.env();
  const env = services.map(
    (name) => [name, { ...clockEnv[name], ...often[name], ...tls.env[name] }] as const,
  );
  return Object.fromEntries(env);
}

interface DrillPlace extends Pick<StackOptions, 'dataDir' | 'progress'> {
  readonly ports: Ports;
  readonly env: ExtraEnv;
}

function optionsAt({ env, ...place }: DrillPlace): StackOptions {
  return worldOptions(place, plan, { mode: { kind: 'local' }, accounts: env });
}

/** Markets, money and orders of another installation, under keys of its own. */
async function makeOther(options: StackOptions, { orders }: DrillPace): Promise<void> {
  const stack = await startStack(options);
  try {
    const markets = await fillWorld(stack, plan);
    const exchange = { baseUrl: stack.baseUrl, folders: { data: options.dataDir } };
    await new DrillTraders({ exchange, markets }).trade(orders);
    await untilCopied({ exchange, partitions });
    await requireClean(stack);
  } finally {
    await stack.stop();
  }
}

async function makeDrilled(exchange: DrilledExchange, { orders }: DrillPace): Promise<DrillWorld> {
  await exchange.start();
  const world = { exchange, markets: await fillWorld(exchange.stack, plan), partitions };
  await new DrillTraders(world).trade(orders);
  await untilCopied(world);
  await requireClean(exchange.stack);
  const { backups, data, older } = exchange.folders;
  if (!(await exchange.run('backup', ['--to', backups])))
    throw new Error(`no backup: ${exchange.said.lines.join('\n')}`);
  await exchange.stop();
  cpSync(data, older, { recursive: true, preserveTimestamps: true });
  await exchange.start();
  return world;
}

async function requireClean(stack: RunningStack): Promise<void> {
  const wrong = await audit(stack);
  if (wrong.length > 0) throw new Error(`not clean before any accident: ${wrong.join(', ')}`);
}
