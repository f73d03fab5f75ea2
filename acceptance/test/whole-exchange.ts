import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ExchangeClient, type ExchangeClientOptions, type Signer } from '@pm/client';
import type { LogPlace } from '@pm/deploy/installation/fee-wallet';
import { logPlaceOf } from '@pm/deploy/installation/open';
import { addressesOf } from '@pm/deploy/installation/read-addresses';
import type { EngineUrls } from '@pm/deploy/local/engines';
import { ensureEngineJars } from '@pm/deploy/local/engines/download-engines';
import { kafkaBroker } from '@pm/deploy/local/engines/kafka-broker';
import type { ManagedProcess } from '@pm/deploy/local/managed-process';
import { defaultCacheDir } from '@pm/deploy/local/paths';
import { freePorts, loopback, type Ports } from '@pm/deploy/local/ports';
import type { ProcessStatus } from '@pm/deploy/local/supervised-process';
import { Supervisor } from '@pm/deploy/local/supervisor';
import { setUpExchange } from '@pm/deploy/setup/exchange-setup';
import { type ExchangeKeys, loadOrMakeKeys } from '@pm/deploy/setup/keys';
import { makeFirstOperator } from '@pm/deploy/setup/operators';
import { type Operator, openOperator } from '@pm/deploy/stack/operator';
import { openPlaces, type Places, type Scale } from '@pm/deploy/stack/scale';
import {
  type ExtraEnv,
  exchangeServices,
  manyTimes,
  type ServicesOptions,
} from '@pm/deploy/stack/services';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { openLogClient, toolLimits } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRedis } from '@pm/kit/redis';
import type { ImportEvent, ImportResult } from '@pm/schemas/http/operator';
import { engineUrls, namesOf } from './services-under-test.ts';

/** Longest wait for a process that was killed, milliseconds: many times what it takes on a machine of its own. */
const backMaxMs = 300_000;
/** Longer than any process may take to come back. */
const retry = { firstPauseMs: 100, longestPauseMs: 1_000, totalMs: backMaxMs };

export type ListedMarket = ImportResult['markets'][number];

/** Resolves once nothing is missing; rejects with the name of the wait and what is still missing after so long. */
export async function untilNone(
  what: string,
  missing: () => Promise<readonly string[]>,
  maxMs: number,
): Promise<void> {
  const waitUntil = performance.now() + maxMs;
  for (;;) {
    const found = await missing();
    if (found.length === 0) return;
    if (performance.now() > waitUntil) {
      throw new Error(`${what}: not in ${maxMs} ms; ${found.slice(0, 20).join('; ')}`);
    }
    await wait(200);
  }
}

/** An event with markets that take small orders, all named after it. */
export function eventOf(name: string, markets: number): ImportEvent {
  const marketAt = (index: number) => ({
    slug: `${name}-${index}`,
    question: `${name} ${index}?`,
    minOrderSize: '1',
  });
  return {
    slug: name,
    title: name,
    markets: Array.from({ length: markets }, (_, index) => marketAt(index)),
  };
}

interface Opening {
  readonly partitions: number;
  readonly events: readonly ImportEvent[];
  /** A Kafka broker that no other test uses, so that it may be killed. */
  readonly ownBroker?: boolean;
  /** Where services find ClickHouse, in place of the shared one. */
  readonly clickhouseUrl?: string;
  /** Processes of each service side by side, behind every gateway; one of each without it. */
  readonly scale?: Scale;
  /** Without `scale`: a second stream service with a gateway of its own. */
  readonly hasSecondStreams?: boolean;
  /** Whether agents are served too. */
  readonly hasMcp?: boolean;
  /** More settings by service, or by process. */
  readonly env?: ExtraEnv;
}

/**
 * Every service of an exchange as a process under the supervisor of the local stack, which restarts what dies: as many
 * as `scale` says, else one of each. Engines are those that tests share, the broker perhaps excepted.
 */
export class WholeExchange {
  readonly name: string;
  readonly keys: ExchangeKeys;
  readonly ports: Ports;
  readonly urls: EngineUrls;
  readonly operator: Operator;
  readonly log: LogPlace;
  /** Base URLs of the gateways: with `scale` or `hasSecondStreams` there may be two. */
  readonly baseUrls: readonly [string, ...string[]];
  /** All processes of each service, with `scale`. */
  readonly places: Places | null;
  markets: readonly ListedMarket[] = [];
  /** Lines of the supervisor. */
  readonly progress: readonly string[];
  /** Its data folder. */
  readonly folder: string;
  readonly #supervisor: Supervisor;
  #brokerIsAllowed: () => Promise<void> = async () => {};
  #transfers = 0;

  private constructor(parts: {
    readonly folder: string;
    readonly options: ServicesOptions;
    readonly secondPorts: Ports | null;
    readonly supervisor: Supervisor;
    readonly progress: readonly string[];
  }) {
    const { folder, options, secondPorts, supervisor, progress } = parts;
    const { keys, ports, urls, access } = options;
    const { clickhouseDatabase: name, topicPrefix } = addressesOf(urls, access);
    this.name = name;
    this.keys = keys;
    this.ports = ports;
    this.urls = urls;
    this.progress = progress;
    this.folder = folder;
    this.#supervisor = supervisor;
    this.places = options.places ?? null;
    const second = this.places?.of('gateway')[1]?.ports ?? secondPorts;
    const others = second === null ? [] : [urlOf(second.gateway)];
    this.baseUrls = [urlOf(ports.gateway), ...others];
    this.operator = openOperator(urlOf(ports.operator), keys.operatorToken);
    const place = { brokers: [urls.kafka], clientId: name };
    const client = openLogClient({ ...place, log: silentLog, limits: toolLimits });
    this.log = logPlaceOf(client, { topicPrefix, rootKey: keys.rootKey });
  }

  static async open(label: string, opening: Opening): Promise<WholeExchange> {
    const folder = mkdtempSync(join(tmpdir(), `${label}-`));
    const ports = await freePorts();
    const hasSecond = opening.scale === undefined && opening.hasSecondStreams === true;
    const secondPorts = hasSecond ? await freePorts() : null;
    const lines: string[] = [];
    const supervisor = await Supervisor.open({
      dataDir: folder,
      progress: (line) => lines.push(line),
      // Its message is among the lines; what waits for the process fails by its own limit.
      onFatal: ({ message }) => lines.push(message),
    });
    const places = opening.scale === undefined ? null : await openPlaces(opening.scale, ports);
    const options = servicesOptions({ label, folder, ports, places, opening });
    const parts = { folder, options, secondPorts, supervisor, progress: lines };
    const exchange = new WholeExchange(parts);
    try {
      await exchange.#start(opening, options, secondPorts);
      return exchange;
    } catch (error) {
      await exchange.close();
      throw new Error(lines.slice(-20).join('\n'), { cause: error });
    }
  }

  /** A client whose requests outlive every restart. */
  client(signer: Signer, options: Partial<ExchangeClientOptions> = {}): ExchangeClient {
    return new ExchangeClient({ baseUrl: this.baseUrls[0], signer, retry, ...options });
  }

  async deposit(wallets: readonly Signer[], amount: string): Promise<void> {
    const deposits = wallets.map(({ address }) => {
      this.#transfers += 1;
      const transferId = `0x${String(this.#transfers).padStart(64, '0')}`;
      return { transferId, wallet: address, amount };
    });
    await this.operator.deposit(deposits);
  }

  /** A request of the operator that has no function of its own. */
  async operate(method: 'POST' | 'PUT', path: string, body: object): Promise<void> {
    const headers = {
      authorization: `Bearer ${this.keys.operatorToken}`,
      'content-type': 'application/json',
    };
    const url = `${urlOf(this.ports.operator)}/operator/${path}`;
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }

  /** Kills a process; resolves when the supervisor has it ready again. */
  async kill(process: string): Promise<void> {
    const before = this.#statusOf(process).restarts;
    if (!this.#supervisor.kill(process, 'SIGKILL')) throw new Error(`${process} did not run`);
    const waitUntil = performance.now() + backMaxMs;
    while (performance.now() < waitUntil) {
      await wait(50);
      const { restarts, state } = this.#statusOf(process);
      if (restarts > before && state === 'ready') return;
    }
    throw new Error(`${process} was not back in time:\n${this.progress.slice(-20).join('\n')}`);
  }

  /** A process stands still from here on, until it is killed. */
  suspend(process: string): void {
    if (!this.#supervisor.kill(process, 'SIGSTOP')) throw new Error(`${process} did not run`);
  }

  /** A process that stood still goes on. */
  resume(process: string): void {
    if (!this.#supervisor.kill(process, 'SIGCONT')) throw new Error(`${process} did not run`);
  }

  /** Stops a process in good order and starts it again; resolves when it is ready. */
  restart(process: string): Promise<void> {
    return this.#supervisor.restart(process);
  }

  /**
   * Kills the broker, whose death ends a local stack, as a restart that leaves it no time; resolves when it is ready
   * again. It stays away until `isNoticed` has resolved.
   */
  async killBroker(isNoticed: () => Promise<void>): Promise<void> {
    this.#brokerIsAllowed = isNoticed;
    const back = this.#supervisor.restart('kafka');
    this.#supervisor.kill('kafka', 'SIGKILL');
    await back;
  }

  async close(): Promise<void> {
    await this.log.client.close();
    this.#supervisor.killAll();
    await this.#supervisor.stop();
    const redis = openRedis({ url: this.urls.redis, log: silentLog });
    const keys = await redis.keys(`${this.name}:*`);
    if (keys.length > 0) await redis.del(...keys);
    await redis.quit();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #start(
    opening: Opening,
    options: ServicesOptions,
    secondPorts: Ports | null,
  ): Promise<void> {
    const supervisor = this.#supervisor;
    makeFirstOperator(options.dataDir, options.keys);
    if (opening.ownBroker) await supervisor.start([await this.#broker(options)]);
    await setUpExchange({
      ...options,
      partitions: opening.partitions,
      feeWallet: defaultFeeWallet,
      replicationFactor: 1,
      progress: () => {},
    });
    const { hasMcp = false } = opening;
    const services = exchangeServices(options).filter(({ name }) => hasMcp || name !== 'mcp');
    const second = secondPorts === null ? [] : secondStreams(options, secondPorts);
    await supervisor.start([...services, ...second]);
    const { markets } = await this.operator.importEvents(opening.events);
    this.markets = markets;
  }

  async #broker({ dataDir, logDir, ports }: ServicesOptions): Promise<ManagedProcess> {
    const jars = await ensureEngineJars(defaultCacheDir, () => {});
    const places = { jars, dataDir, logDir };
    const broker = kafkaBroker({
      ...places,
      port: ports.kafka,
      controllerPort: ports.kafkaController,
    });
    const prepare = async () => {
      await this.#brokerIsAllowed();
      await broker.prepare();
    };
    return { ...broker, prepare };
  }

  /** State, memory and restarts of every process. */
  get processes(): readonly ProcessStatus[] {
    return this.#supervisor.status();
  }

  #statusOf(process: string) {
    const status = this.#supervisor.status().find(({ name }) => name === process);
    if (status === undefined) throw new Error(`no process ${process}`);
    return status;
  }
}

const urlOf = (port: number): string => `http://${loopback}:${port}`;

function servicesOptions({
  label,
  folder,
  ports,
  places,
  opening,
}: {
  readonly label: string;
  readonly folder: string;
  readonly ports: Ports;
  readonly places: Places | null;
  readonly opening: Opening;
}): ServicesOptions {
  const name = `${label}_${process.pid}`;
  const { ownBroker = false, clickhouseUrl = engineUrls().clickhouse, env = {} } = opening;
  const shared = { ...engineUrls(), clickhouse: clickhouseUrl };
  return {
    urls: ownBroker ? { ...shared, kafka: `${loopback}:${ports.kafka}` } : shared,
    access: namesOf(name),
    ports,
    ...(places === null ? {} : { places }),
    keys: loadOrMakeKeys(join(folder, 'keys.json')),
    dataDir: folder,
    logDir: join(folder, 'logs'),
    replicationMin: 1,
    engines: [],
    extraEnv: {
      ...env,
      // A restored matcher compares every replayed record with what is stored, byte by byte.
      matcher: { PM_VERIFY_REPLAY: '1', ...env['matcher'] },
      ingress: { ...manyTimes, ...env['ingress'] },
      'query-api': { ...manyTimes, ...env['query-api'] },
    },
  };
}

/** A stream service more, in a folder of its own, with a gateway. */
function secondStreams(options: ServicesOptions, secondPorts: Ports): ManagedProcess[] {
  const { streams, streamsOps, gateway, gatewayOps } = secondPorts;
  const second = exchangeServices({
    ...options,
    ports: { ...options.ports, streams, streamsOps, gateway, gatewayOps },
    dataDir: join(options.dataDir, 'second'),
    logDir: join(options.logDir, 'second'),
  });
  return second
    .filter(({ name }) => name === 'streams' || name === 'gateway')
    .map((service) => ({ ...service, name: `${service.name}-2` }));
}
