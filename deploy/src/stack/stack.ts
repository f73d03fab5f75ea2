import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import type { WalletAddress } from '@pm/schemas/ids';
import { startContainerEngines } from '../containers/engines.ts';
import type { DemoMarket } from '../demo/market-maker.ts';
import { installationKeys, refuseFreshAgainst } from '../installation/identity.ts';
import { addressesOf, type InstallationNames, namesAt } from '../installation/read-addresses.ts';
import type { BrokerCount } from '../local/engines/kafka-broker.ts';
import { type EngineAccess, type EngineUrls, startEngines } from '../local/engines.ts';
import type { Progress } from '../local/managed-process.ts';
import { loopback, type Ports } from '../local/ports.ts';
import { messageOf, StackError } from '../local/stack-error.ts';
import { Supervisor } from '../local/supervisor.ts';
import { openingsAt, setUpExchange } from '../setup/exchange-setup.ts';
import { authorityName, type ExchangeKeys } from '../setup/keys.ts';
import { firstOperatorName, makeFirstOperator } from '../setup/operators.ts';
import { demoName, demoProcess } from './demo-process.ts';
import type { Heaps } from './heaps.ts';
import type { EngineMode } from './mode.ts';
import { type Operator, openOperator } from './operator.ts';
import { openPlaces, type Places, type Scale, streamsFolders } from './scale.ts';
import { seedCatalog, seedWallets, waitForTrading } from './seeding.ts';
import { type ExtraEnv, exchangeServices, type SigningChoice, storeFolderIn } from './services.ts';

export interface StackOptions {
  readonly mode: EngineMode;
  /** Folder of all data of the stack. */
  readonly dataDir: string;
  readonly ports: Ports;
  /** Processes of each service; default one. */
  readonly scale?: Scale;
  readonly progress: Progress;
  /** Starts from scratch: the data folder is emptied first. */
  readonly fresh: boolean;
  /** Lists the recorded markets and funds the wallets. */
  readonly seed: boolean;
  /** Plays recorded quotes and trades at these speeds (1 is real time); null plays nothing. */
  readonly demo: { readonly quoteSpeed: number; readonly tradeSpeed: number } | null;
  /** See `SetupOptions`. */
  readonly partitions?: number | undefined;
  readonly partitionsOfNew?: number;
  /** The wallet that fees are paid to; `defaultFeeWallet` unless given. */
  readonly feeWallet?: WalletAddress;
  /** Brokers of local engines; default 1. Their number is final for a data folder. */
  readonly brokers?: BrokerCount;
  /** Copies of each topic; default 1, for one broker. */
  readonly replicationFactor?: number;
  /** Fewest copies of each topic with which the matcher starts; default `replicationFactor`. */
  readonly replicationMin?: number;
  /** Domains for which signatures are accepted; the domain of the log alone unless given. */
  readonly signing?: SigningChoice;
  /** Heap of each program; those of a small machine unless given. */
  readonly heaps?: Heaps;
  /** Services that fail at the start do not end it: see `StartOptions`. */
  readonly goesOn?: boolean;
  readonly extraEnv?: ExtraEnv;
  readonly onFatal?: (failure: StackError) => void;
  /** Called before services are started, which takes minutes where they have much to read. */
  readonly onServices?: (stack: ShownStack) => Promise<void>;
}

/** A stack whose services may still be starting. */
export interface ShownStack {
  readonly baseUrl: string;
  readonly urls: EngineUrls;
  readonly names: InstallationNames;
  readonly engines: EngineMode['kind'];
  readonly supervisor: Supervisor;
  readonly logDir: string;
  /** In good order, also during a start. */
  stop(): Promise<void>;
}

export interface RunningStack extends ShownStack {
  readonly access: EngineAccess;
  /** Password of readers of the tables of local engines; null on others. */
  readonly readersPassword: string | null;
  readonly ports: Ports;
  /** All processes of each service. */
  readonly places: Places;
  readonly keys: ExchangeKeys;
  readonly operator: Operator;
  readonly operatorsFile: string;
  /** Names of tables that another version has made: `npm run rebuild` makes them again. */
  readonly otherTables: readonly string[];
  /** Markets of the demo; none where it is not listed. */
  readonly demoMarkets: readonly DemoMarket[];
  /** Whether orders that published clients sign for other exchanges are accepted. */
  readonly familyDomains: boolean;
}

/**
 * Starts engines, topics, schemas, tables, services, catalog, wallets and demo, in this order, and reports each step.
 */
export async function startStack(options: StackOptions): Promise<RunningStack> {
  const dataDir = resolve(options.dataDir);
  const logDir = join(dataDir, 'logs');
  const { ports } = options;
  if (options.fresh) await startAfresh(options, dataDir);
  mkdirSync(logDir, { recursive: true });
  const opened = await openEngines(options, dataDir, logDir);
  const { supervisor, urls, access, readersPassword } = opened;
  const stopAll = async () => {
    await supervisor.stop();
    await opened.stopContainers?.();
  };
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopAll();
    return stopped;
  };
  try {
    const { extraEnv = {}, signing = { familyDomains: false } } = options;
    const { engines } = opened;
    const { keys, operatorsFile, otherTables } = await setUp(options, dataDir, opened);
    const folders = { dataDir, logDir };
    const places = await openPlaces(options.scale ?? {}, ports);
    const names = namesAt(addressesOf(urls, access));
    const baseUrl = baseUrlOf(options);
    const shown = { baseUrl, urls, names, engines: options.mode.kind, supervisor, logDir, stop };
    await options.onServices?.(shown);
    await supervisor.start(
      exchangeServices({
        urls,
        access,
        ports,
        places,
        keys,
        ...folders,
        replicationMin: options.replicationMin ?? replicationOf(options),
        engines,
        readersPassword,
        signing,
        heaps: options.heaps,
        extraEnv,
      }),
      options,
    );
    const operator = openOperator(`http://${loopback}:${ports.operator}`, keys.operatorToken);
    const { operatorToken } = keys;
    const parts = { supervisor, operator, operatorToken, ...folders };
    const demoMarkets = await seedIfPossible(options, parts);
    return {
      ...shown,
      access,
      readersPassword,
      ports,
      places,
      keys,
      operator,
      operatorsFile,
      otherTables,
      demoMarkets,
      familyDomains: signing.familyDomains,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Sets up topics, schemas, partitions, keys and tables on engines of another installation, and starts nothing; the same
 * again changes nothing. Throws a `StackError` while a stack runs on the data folder.
 */
export async function setUpOnly(options: StackOptions): Promise<void> {
  const dataDir = resolve(options.dataDir);
  if (options.fresh) await startAfresh(options, dataDir);
  const opened = await openEngines(options, dataDir, join(dataDir, 'logs'));
  try {
    await setUp(options, dataDir, opened);
  } finally {
    await opened.supervisor.stop();
  }
}

/** Opened engines: addresses and access that the services need, and the supervisor or containers that run them. */
interface OpenedEngines {
  readonly supervisor: Supervisor;
  readonly urls: EngineUrls;
  readonly access: EngineAccess;
  /** Processes of the supervisor. */
  readonly engines: readonly string[];
  /** Password of readers of the tables of local engines; null on others. */
  readonly readersPassword: string | null;
  /** There where they run in containers; the services stop before. */
  readonly stopContainers?: () => Promise<void>;
}

async function openEngines(
  options: StackOptions,
  dataDir: string,
  logDir: string,
): Promise<OpenedEngines> {
  const { progress, ports, mode } = options;
  const fatal = options.onFatal === undefined ? {} : { onFatal: options.onFatal };
  if (mode.kind === 'external') {
    const supervisor = await Supervisor.open({ dataDir, progress, ...fatal });
    const { urls, access } = mode;
    return { supervisor, urls, access, engines: [], readersPassword: null };
  }
  if (mode.kind === 'containers') return await openContainers(options, dataDir, logDir);
  const { brokers = 1 } = options;
  const running = await startEngines({ dataDir, logDir, ports, progress, brokers, ...fatal });
  const { supervisor, urls, access, names: engines, readersPassword } = running;
  return { supervisor, urls, access, engines, readersPassword };
}

/** Engines in containers, which keep nothing; the store is a folder, as beside local ones. */
async function openContainers(
  { progress, ports, brokers = 1, onFatal }: StackOptions,
  dataDir: string,
  logDir: string,
): Promise<OpenedEngines> {
  if (brokers !== 1)
    throw new StackError('BAD_DESCRIPTION', 'STACK=containers has one broker; see compose.yaml');
  if (existsSync(join(dataDir, 'keys.json')))
    throw new StackError(
      'BAD_DESCRIPTION',
      `STACK=containers keeps no log, and ${dataDir} belongs to one: start with --fresh or another --data. ` +
        'Nothing was changed.',
    );
  const fatal = onFatal === undefined ? {} : { onFatal };
  const supervisor = await Supervisor.open({ dataDir, progress, ...fatal });
  try {
    const containers = await startContainerEngines({ dataDir, logDir, ports, progress });
    const store = pathToFileURL(storeFolderIn(dataDir)).href;
    return {
      supervisor,
      urls: containers.urls,
      access: { ...containers.access, PM_STORE_URL: store },
      engines: [],
      readersPassword: null,
      stopContainers: containers.stop,
    };
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}

/** Keys, the first operator, topics, schemas, partitions and tables, as far as they are not there yet. */
async function setUp(
  options: StackOptions,
  dataDir: string,
  { urls, access, engines }: OpenedEngines,
) {
  const setupAccess = { ...access, ...options.extraEnv?.['setup'] };
  const keysFile = join(dataDir, 'keys.json');
  const isKnown = existsSync(keysFile);
  const keys = await installationKeys(keysFile, () => openingsAt({ urls, access: setupAccess }));
  const { file: operatorsFile, isNew } = makeFirstOperator(dataDir, keys);
  if (isKnown && isNew)
    options.progress(
      `${operatorsFile} was missing: a new one has the operator ${firstOperatorName} alone. If there were others, move it ` +
        'away and restore it from a backup (npm run restore)',
    );
  const otherTables = await setUpExchange({
    urls,
    access: setupAccess,
    keys,
    feeWallet: options.feeWallet ?? defaultFeeWallet,
    partitions: options.partitions,
    ...(options.partitionsOfNew !== undefined && { partitionsOfNew: options.partitionsOfNew }),
    replicationFactor: replicationOf(options),
    ownsBrokers: engines.length > 0,
    hasStore: engines.length > 0 || (access['PM_STORE_URL'] ?? '') !== '',
    progress: options.progress,
  });
  return { keys, operatorsFile, otherTables };
}

function replicationOf({ replicationFactor = 1 }: StackOptions): number {
  return replicationFactor;
}

interface SeedParts {
  readonly supervisor: Supervisor;
  readonly operator: Operator;
  readonly operatorToken: string;
  readonly dataDir: string;
  readonly logDir: string;
}

/** Without a service that it needs there is no demo; the others serve all the same. */
async function seedIfPossible(
  options: StackOptions,
  parts: SeedParts,
): Promise<readonly DemoMarket[]> {
  try {
    return await seedAndPlay(options, parts);
  } catch (error) {
    const services = parts.supervisor.status().filter(({ name }) => name !== demoName);
    const isComplete = services.every(({ state }) => state === 'ready');
    if (options.goesOn !== true || isComplete) throw error;
    options.progress(`no demo until the next start: ${messageOf(error)}`);
    return [];
  }
}

async function seedAndPlay(
  options: StackOptions,
  parts: SeedParts,
): Promise<readonly DemoMarket[]> {
  if (!options.seed) return [];
  const { progress } = options;
  const marketsFile = join(parts.dataDir, 'demo-markets.json');
  const baseUrl = baseUrlOf(options);
  const markets = await seedCatalog(parts.operator, { marketsFile, baseUrl }, progress);
  await seedWallets(parts.operator, progress);
  if (options.demo === null) return markets;
  const { quoteSpeed, tradeSpeed } = options.demo;
  await parts.supervisor.start([
    demoProcess({
      ...parts,
      port: options.ports.gateway,
      operatorPort: options.ports.operator,
      marketsFile,
      quoteSpeed,
      tradeSpeed,
      heaps: options.heaps,
    }),
  ]);
  await waitForTrading(baseUrl, markets, progress);
  return markets;
}

function baseUrlOf({ ports }: StackOptions): string {
  return `http://${loopback}:${ports.gateway}`;
}

/** Engines of another installation keep their log: then nothing may be removed that belongs to it. */
async function startAfresh(
  { mode, progress, extraEnv }: StackOptions,
  dataDir: string,
): Promise<void> {
  if (mode.kind === 'external') {
    const access = { ...mode.access, ...extraEnv?.['setup'] };
    refuseFreshAgainst(await openingsAt({ urls: mode.urls, access }));
  }
  await emptyDataFolder(dataDir, progress);
}

/**
 * Removes the data of a stack and no other files of the folder. The supervisor's lock ensures that no other stack uses
 * it, and that processes of an earlier one have ended.
 */
async function emptyDataFolder(dataDir: string, progress: Progress): Promise<void> {
  const holder = await Supervisor.open({ dataDir, progress });
  for (const name of [
    'engines',
    'snapshots',
    'store',
    ...streamsFolders,
    'logs',
    'keys.json',
    authorityName,
    'operators.json',
    'demo-markets.json',
  ]) {
    rmSync(join(dataDir, name), { recursive: true, force: true });
  }
  await holder.stop();
}
