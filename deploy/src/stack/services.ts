import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { clickhouseFields, namesOf, storeFields } from '@pm/kit/config';
import { localReader } from '../local/engines/clickhouse-password.ts';
import type { EngineAccess, EngineUrls } from '../local/engines.ts';
import { type ManagedProcess, processEnvironment } from '../local/managed-process.ts';
import { builtEntry, repositoryRoot } from '../local/paths.ts';
import { loopback, type Ports } from '../local/ports.ts';
import { requireOk, requireReady } from '../local/probes.ts';
import type { ExchangeKeys } from '../setup/keys.ts';
import { operatorsFileIn } from '../setup/operators.ts';
import { serviceSecrets } from '../setup/service-secrets.ts';
import { type Heaps, heapOf } from './heaps.ts';
import { givenOf, processDefaults, traceEnvironment } from './process-defaults.ts';
import { numbered, type Place, Places, type ScaledService } from './scale.ts';

export interface ServicesOptions {
  readonly urls: EngineUrls;
  /** With the names of topics, keys and tables, where they differ from the defaults. */
  readonly access: EngineAccess;
  readonly ports: Ports;
  /** Where several processes of a service run side by side; one of each unless given. */
  readonly places?: Places;
  readonly keys: ExchangeKeys;
  readonly dataDir: string;
  readonly logDir: string;
  /** Fewest copies of each topic with which the matcher starts. */
  readonly replicationMin: number;
  /** Processes of this stack that services wait for; none when the engines are external. */
  readonly engines: readonly string[];
  /** With it query-api reads the tables of local engines; on others it has `access`. */
  readonly readersPassword?: string | null;
  /** Domains for which signatures are accepted; the domain of the log alone unless given. */
  readonly signing?: SigningChoice;
  /** Heap of each program; the heaps of a small machine unless given. */
  readonly heaps?: Heaps | undefined;
  /** More settings by service, for tests. */
  readonly extraEnv?: ExtraEnv;
}

/** Domains that orders and wallet proofs may be signed for. */
export interface SigningChoice {
  /** Also the domains of other exchanges that published clients sign for. */
  readonly familyDomains: boolean;
  /** `PM_SIGNING_DOMAIN`; empty for the domain that belongs to the log. */
  readonly signingDomain?: string;
}

/** Name of a service, of one of its processes, or `setup` -> variables it gets besides its own. */
export type ExtraEnv = Readonly<Partial<Record<string, Readonly<Record<string, string>>>>>;

/** Rate limits of a service as many times as wide. Processes share their counts, so all that limit need them. */
export const manyTimes = { PM_RATE_LIMIT_SCALE: '10000' };

/** Rate limits that count but never refuse: for runs that send more than one client may (limits.md). */
export const wideLimits: ExtraEnv = { ingress: manyTimes, 'query-api': manyTimes };

/** Space for young objects: with less, responses and batches in transit are copied repeatedly. */
const youngMebibytes = 32;

/** The four services, the operator's process, the streams, the MCP server and the gateway, as processes. */
export function exchangeServices(options: ServicesOptions): ManagedProcess[] {
  const each = (name: ScaledService, describe: (place: Place) => ManagedProcess) =>
    placesOf(options, name).map(describe);
  return [
    ...each('matcher', (place) => matcher(options, place)),
    ...each('projectors', (place) => projectors(options, place)),
    ...each('ingress', (place) => ingress(options, place)),
    operatorService(options),
    ...each('query-api', (place) => queryApi(options, place)),
    ...each('streams', (place) => streams(options, place)),
    mcp(options),
    ...each('gateway', (place) => gateway(options, place)),
  ];
}

function placesOf({ ports, places }: ServicesOptions, name: ScaledService): readonly Place[] {
  return (places ?? new Places({}, [ports])).of(name);
}

/** Base URLs of all processes of a service, by the port that they listen on. */
function urlsOf(options: ServicesOptions, name: ScaledService, port: keyof Ports): string {
  const urls = placesOf(options, name).map(({ ports }) => `http://${loopback}:${ports[port]}`);
  return urls.join(',');
}

/** Milliseconds between ticks where there are standbys, which take a partition over after three of them. */
const heartbeatMs = 100;

/** A matcher. Of several, each has replicas of partitions that others own. */
function matcher(options: ServicesOptions, { number, ports }: Place): ManagedProcess {
  const { keys, dataDir } = options;
  const hasStandby = placesOf(options, 'matcher').length > 1;
  const description = service(options, 'matcher', {
    number,
    opsPort: ports.matcherOps,
    env: {
      ...serviceSecrets(keys).matcher,
      // One for all: whoever takes a partition over begins at the newest snapshot of any owner.
      PM_SNAPSHOT_DIR: join(dataDir, 'snapshots'),
      ...localStore(options),
      PM_INSTANCE: `matcher-${number}`,
      PM_REPLICATION_MIN: String(options.replicationMin),
      ...(hasStandby && { PM_TICK_MS: String(heartbeatMs) }),
    },
    needs: ['kafka', 'store'],
  });
  return hasStandby ? { ...description, standInGroup: 'matcher' } : description;
}

function projectors(options: ServicesOptions, { number, ports }: Place): ManagedProcess {
  const { keys } = options;
  return service(options, 'projectors', {
    number,
    opsPort: ports.projectorsOps,
    env: {
      ...serviceSecrets(keys).projectors,
      PM_INSTANCE: `projectors-${number}`,
      ...localStore(options),
      // The Redis of this stack is for trying things out; that of other engines holds money.
      PM_LEDGER_SYNC: options.engines.includes('redis') ? 'any' : 'always',
    },
    needs: ['kafka', 'redis', 'clickhouse', 'store'],
  });
}

function ingress(options: ServicesOptions, { number, ports }: Place): ManagedProcess {
  const { keys } = options;
  return service(options, 'ingress', {
    number,
    opsPort: ports.ingressOps,
    httpPorts: [ports.ingress],
    env: {
      ...listenerOn(ports.ingress),
      PM_HTTP_PROCESSES: String(placesOf(options, 'ingress').length),
      ...serviceSecrets(keys).ingress,
      ...behindGateway,
      ...signingEnv(options),
    },
    needs: ['kafka', 'redis'],
  });
}

function queryApi(options: ServicesOptions, { number, ports }: Place): ManagedProcess {
  return service(options, 'query-api', {
    number,
    opsPort: ports.queryApiOps,
    httpPorts: [ports.queryApi],
    env: {
      ...listenerOn(ports.queryApi),
      PM_CONSOLE_DIR: join(repositoryRoot, 'console/dist'),
      PM_HTTP_PROCESSES: String(placesOf(options, 'query-api').length),
      ...readerAccess(options),
      PM_STREAMS_OPS_URLS: urlsOf(options, 'streams', 'streamsOps'),
      ...serviceSecrets(options.keys)['query-api'],
      ...behindGateway,
      ...signingEnv(options),
    },
    needs: ['kafka', 'redis', 'clickhouse'],
  });
}

function streams(options: ServicesOptions, { number, ports }: Place): ManagedProcess {
  return service(options, 'streams', {
    number,
    opsPort: ports.streamsOps,
    httpPorts: [ports.streams],
    env: {
      ...listenerOn(ports.streams),
      ...serviceSecrets(options.keys).streams,
      ...behindGateway,
      PM_STREAMS_DIR: join(options.dataDir, numbered('streams', number)),
      PM_INGRESS_URL: urlsOf(options, 'ingress', 'ingress'),
    },
    needs: ['kafka'],
  });
}

/** The second program of ingress. It alone has the operator's key, and no secret of API keys. */
function operatorService(options: ServicesOptions): ManagedProcess {
  const { ports, keys, dataDir } = options;
  return service(options, 'operator', {
    opsPort: ports.operatorOps,
    httpPorts: [ports.operator],
    env: {
      PM_OPERATOR_PORT: String(ports.operator),
      PM_OPERATORS_FILE: operatorsFileIn(dataDir),
      PM_SECOND_PERSON: 'off',
      PM_CHALLENGE_SECONDS: '0',
      PM_FEE_NOTICE_SECONDS: '0',
      ...givenOf(['PM_MARKETS_MAX']),
      ...serviceSecrets(keys).operator,
      PM_SIGNING_DOMAIN: options.signing?.signingDomain ?? '',
    },
    needs: ['kafka', 'redis'],
  });
}

/** On the engines of this stack query-api reads only, as its role on others does (clickhouse.md). */
function readerAccess({ readersPassword }: ServicesOptions): EngineAccess {
  if (typeof readersPassword !== 'string') return {};
  return { PM_CLICKHOUSE_USER: localReader, PM_CLICKHOUSE_PASSWORD: readersPassword };
}

/** The gateway names the client. */
const behindGateway = { PM_TRUSTED_PROXIES: loopback };

/** Variables of a public listener, which the gateway forwards to. */
function listenerOn(port: number): Readonly<Record<string, string>> {
  return { PM_HOST: loopback, PM_HTTP_PORT: String(port) };
}

/** Variables with the accepted signing domains, for the services that check or describe signatures. */
function signingEnv({ signing }: ServicesOptions): Record<string, string> {
  return {
    PM_FAMILY_DOMAINS: String(signing?.familyDomains ?? false),
    PM_SIGNING_DOMAIN: signing?.signingDomain ?? '',
  };
}

interface ServiceSpec {
  /** Number of the process among the processes of its service; 1 unless given. */
  readonly number?: number;
  readonly opsPort: number;
  readonly httpPorts?: readonly number[];
  readonly env: Readonly<Record<string, string>>;
  /** Engines that it uses and, if they belong to this stack, waits for; `store` is no process. */
  readonly needs: readonly string[];
}

function service(options: ServicesOptions, program: string, spec: ServiceSpec): ManagedProcess {
  const ready = `http://${loopback}:${spec.opsPort}/ready`;
  const name = numbered(program, spec.number ?? 1);
  const heap = heapOf(program, options.heaps);
  return {
    ...processDefaults(options, name),
    heap,
    args: [
      `--max-old-space-size=${heap.mebibytes}`,
      `--max-semi-space-size=${youngMebibytes}`,
      programOf(program),
    ],
    env: processEnvironment({
      ...sharedEnv(options, spec),
      ...spec.env,
      PM_OPS_PORT: String(spec.opsPort),
      ...options.extraEnv?.[program],
      ...options.extraEnv?.[name],
    }),
    dependsOn: [
      ...options.engines.filter((engine) => spec.needs.some((need) => isEngine(engine, need))),
      // Further processes start after the first ones: all at once take too long on few processors.
      ...(name === program ? [] : [program]),
    ],
    standsAlone: spec.needs.length === 0,
    ports: [spec.opsPort, ...(spec.httpPorts ?? [])],
    ready: () => requireReady(ready),
  };
}

/** Several brokers are several processes: `kafka-1`, `kafka-2` ... */
function isEngine(process: string, engine: string): boolean {
  return process === engine || process.startsWith(`${engine}-`);
}

/** One file that is made of all modules of a program (deploy/bundle.mjs): it loads in a third of their time. */
function programOf(name: string): string {
  return builtEntry(`programs/${name}.mjs`);
}

function mcp(options: ServicesOptions): ManagedProcess {
  const { ports } = options;
  return service(options, 'mcp', {
    opsPort: ports.mcpOps,
    httpPorts: [ports.mcp],
    env: {
      ...listenerOn(ports.mcp),
      // All of its reads belong to query-api, which trusts it to name its callers.
      PM_EXCHANGE_URL: `http://${loopback}:${ports.queryApi}`,
      ...behindGateway,
    },
    needs: [],
  });
}

function gateway(options: ServicesOptions, { number, ports }: Place): ManagedProcess {
  const forwarded = ['ingress', 'query-api', 'streams'] as const;
  const description = service(options, 'gateway', {
    number,
    opsPort: ports.gatewayOps,
    httpPorts: [ports.gateway],
    env: {
      ...listenerOn(ports.gateway),
      // The services trust the gateway; proxies before it are those of the machine.
      ...givenOf(['PM_TRUSTED_PROXIES', 'PM_CONNECTIONS_PER_ADDRESS']),
      PM_INGRESS_URL: urlsOf(options, 'ingress', 'ingress'),
      PM_QUERY_API_URL: urlsOf(options, 'query-api', 'queryApi'),
      PM_STREAMS_URL: urlsOf(options, 'streams', 'streams'),
      PM_MCP_URL: `http://${loopback}:${options.ports.mcp}`,
    },
    needs: [],
  });
  const services = forwarded.flatMap((one) => placesOf(options, one).map((place) => place.name));
  return {
    ...description,
    dependsOn: [...description.dependsOn, ...services],
    ready: () => requireOk(`http://${loopback}:${ports.gateway}/ok`),
  };
}

/** Beside engines of this stack the store is a folder of its data; for others `PM_STORE_URL` names it. */
function localStore({ engines, dataDir }: ServicesOptions): Record<string, string> {
  if (engines.length === 0) return {};
  return { PM_STORE_URL: pathToFileURL(storeFolderIn(dataDir)).href };
}

/** The folder of the store of a local stack. */
export function storeFolderIn(dataDir: string): string {
  return join(dataDir, 'store');
}

const tableVariables = namesOf(clickhouseFields);
const storeVariables = namesOf(storeFields);

function sharedEnv(options: ServicesOptions, { needs }: ServiceSpec): Record<string, string> {
  return {
    ...(needs.length === 0 ? {} : engineEnv(options, needs)),
    PM_OPS_HOST: loopback,
    ...traceEnvironment(),
    PM_PARENT_PIPE: '1',
    NODE_ENV: 'production',
  };
}

/** Passwords of the tables and of the store go to the services that use them. */
function engineEnv(options: ServicesOptions, needs: readonly string[]): Record<string, string> {
  const { urls } = options;
  return {
    ...Object.fromEntries(
      Object.entries(options.access).filter(
        ([name]) =>
          (needs.includes('clickhouse') || !tableVariables.includes(name)) &&
          (needs.includes('store') || !storeVariables.includes(name)),
      ),
    ),
    PM_KAFKA_BROKERS: urls.kafka,
    PM_REDIS_URL: urls.redis,
    PM_CLICKHOUSE_URL: urls.clickhouse,
  };
}
