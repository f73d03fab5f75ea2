import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { StackError, systemCodeOf } from './stack-error.ts';

/** The only address that local processes listen on. */
export const loopback = '127.0.0.1';

/** The ports of the local stack, fixed so that users can remember them. */
export const defaultPorts = {
  kafka: 19092,
  kafkaController: 19093,
  kafka2: 19094,
  kafka2Controller: 19095,
  kafka3: 19096,
  kafka3Controller: 19097,
  registry: 18081,
  clickhouse: 18123,
  redis: 16379,
  gateway: 8080,
  ingress: 18001,
  operator: 18002,
  ingressOps: 18003,
  matcherOps: 18004,
  projectorsOps: 18005,
  queryApi: 18006,
  queryApiOps: 18007,
  streams: 18008,
  streamsOps: 18009,
  mcp: 18010,
  mcpOps: 18011,
  operatorOps: 18012,
  gatewayOps: 18013,
} as const;

export type PortName = keyof typeof defaultPorts;
export type Ports = Readonly<Record<PortName, number>>;

const enginePortNames = [
  'kafka',
  'kafkaController',
  'kafka2',
  'kafka2Controller',
  'kafka3',
  'kafka3Controller',
  'registry',
  'clickhouse',
  'redis',
] as const satisfies readonly PortName[];

/** The ports the four engines need; those of the second and third broker only with three of them. */
export type EnginePorts = Pick<Ports, (typeof enginePortNames)[number]>;

const maxPort = 65_535;

/** The environment variable of a port: `PM_PORT_KAFKA_CONTROLLER` for `kafkaController`. */
export function portVariable(name: PortName): string {
  return `PM_PORT_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/**
 * The default ports, changed by `PM_PORT_*` variables.
 *
 * @throws StackError BAD_DESCRIPTION for a variable that is no port number, or two names on one
 * port.
 */
export function portsFromEnvironment(env: Readonly<Record<string, string | undefined>>): Ports {
  const ports: Record<PortName, number> = { ...defaultPorts };
  for (const name of Object.keys(defaultPorts) as PortName[]) {
    const text = env[portVariable(name)];
    if (text !== undefined && text !== '') ports[name] = parsePort(portVariable(name), text);
  }
  const numbers = Object.values(ports);
  if (new Set(numbers).size !== numbers.length) {
    throw new StackError('BAD_DESCRIPTION', `two services share a port: ${JSON.stringify(ports)}`);
  }
  return ports;
}

function parsePort(variable: string, text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= maxPort) return port;
  throw new StackError('BAD_DESCRIPTION', `${variable}=${text} is not a port (1 to ${maxPort})`);
}

/** Ports held by this process until `release` is called. */
export interface HeldPorts {
  readonly ports: readonly number[];
  release(): Promise<void>;
}

/**
 * Where free ports are looked for: above those of the local stack, and below those that Linux gives to connections by
 * default, or a connection could take one between release and use.
 */
const freeFrom = 20_000;
const freeBelow = 26_384;
/**
 * A search also listens on the port so far above each that it has found, and goes on to do so for a while after their
 * release: until they are used, no other search takes them, of whatever process.
 */
const claimAbove = 6_384;
const claimMs = 600_000;
/** Ports that are tried for each that is wanted. */
const triesPerPort = 100;

/**
 * Finds free ports at random, and holds all of them until released. Two searches do not find the same one, also for ten
 * minutes after its release; another program may still take one, and the start then fails with its number.
 *
 * @throws StackError PORT_IN_USE when there are none.
 */
export async function holdFreePorts(count: number): Promise<HeldPorts> {
  const held = new Map<number, Server>();
  const release = async () => {
    await Promise.all([...held.values()].map(close));
  };
  for (let tries = 0; held.size < count; tries += 1) {
    if (tries === count * triesPerPort) {
      await release();
      const range = `${freeFrom} to ${freeBelow - 1}`;
      throw new StackError('PORT_IN_USE', `no ${count} free ports from ${range}`);
    }
    const port = randomInt(freeFrom, freeBelow);
    const server = await listenClaimed(port);
    if (server !== null) held.set(port, server);
  }
  return { ports: [...held.keys()], release };
}

/** Free ports for a whole stack, released at once. */
export function freePorts(): Promise<Ports> {
  return freePortsFor(Object.keys(defaultPorts) as PortName[]);
}

/** Free ports for one set of engines, released at once. */
export function freeEnginePorts(): Promise<EnginePorts> {
  return freePortsFor(enginePortNames);
}

async function freePortsFor<const Name extends PortName>(
  names: readonly Name[],
): Promise<Readonly<Record<Name, number>>> {
  const held = await holdFreePorts(names.length);
  await held.release();
  const found = names.map((name, index) => [name, held.ports[index] ?? 0]);
  return Object.fromEntries(found) as Record<Name, number>;
}

/**
 * Refuses a port that another program listens on.
 *
 * @throws StackError PORT_IN_USE with the port, its process and how to choose another.
 */
export async function requireFreePort(port: number, user: string): Promise<void> {
  try {
    await close(await listen(port));
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    const state = code === 'EACCES' ? 'may not be used by this user' : 'is already in use';
    throw new StackError('PORT_IN_USE', `port ${port} for ${user} ${state}. ${adviceFor(port)}`);
  }
}

function adviceFor(port: number): string {
  const names = Object.keys(defaultPorts) as PortName[];
  const name = names.find((candidate) => defaultPorts[candidate] === port);
  const variable = name === undefined ? 'PM_PORT_<NAME>' : portVariable(name);
  return `Stop the program that has it, or choose another: ${variable}=<port>`;
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: loopback, exclusive: true }, () => resolve(server));
  });
}

/** Null for a port that is used or claimed. */
async function listenClaimed(port: number): Promise<Server | null> {
  const claim = await listen(port + claimAbove).catch(() => null);
  if (claim === null) return null;
  claim.unref();
  const server = await listen(port).catch(() => null);
  if (server === null) await close(claim);
  else setTimeout(() => claim.close(), claimMs).unref();
  return server;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
  });
}
