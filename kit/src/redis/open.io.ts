import { type Command, Redis, type RedisOptions } from 'ioredis';
import { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { sentinelAddressOf, serverOf, splitAccount } from './address.ts';
import { isFromDemoted, redisFault } from './faults.ts';
import { PrimaryConnector } from './primary-connector.io.ts';

export interface RedisClientOptions {
  /**
   * `redis://` or `rediss://` of the primary, or `redis+sentinel://` or `rediss+sentinel://` of Sentinels that know it;
   * with user, password and database when needed. Sentinels are asked with the account in the URL.
   */
  readonly url: string;
  /** Certificates of authorities for servers and Sentinels with TLS, PEM; those of Node by default. */
  readonly ca?: string;
  /** At the server, in place of those in the URL. */
  readonly username?: string;
  readonly password?: string;
  readonly log: Log;
  /** Time limit of one command, including the wait for a connection, milliseconds. */
  readonly commandTimeoutMs?: number;
}

/** ioredis' client; every failed command rejects with a `Fault`. */
export type RedisClient = Redis;

const connectTimeoutMs = 1_000;
const defaultCommandTimeoutMs = 2_000;
const firstReconnectMs = 50;
const maxReconnectMs = 500;
/** A connection that is given up is cut when its other end does not close it either. */
const disconnectTimeoutMs = 250;
/** A connection with commands in flight that brings no byte in this time is given up: the machine may be gone. */
const silentMs = 2_000;
/** How often a server is asked for its role. */
const roleEveryMs = 1_000;
/** Connection attempts before waiting commands are rejected. */
const maxRetriesPerCommand = 3;
/** Commands that wait for a connection; the next one is refused. */
const maxWaitingCommands = 10_000;
/** A failing connection is logged once per this many milliseconds. */
const logEveryMs = 5_000;

/** Commands that ioredis sends while it connects; it reads the text of their errors. */
const ownCommands = new Set(['auth', 'client', 'hello', 'info', 'readonly', 'select']);

/**
 * Opens a client that connects by itself, reconnects with growing waits (bounded, for ever), and bounds every command
 * in time and the waiting ones in number. It is connected to a primary or not at all: it leaves a server that was
 * demoted or has become silent, and a command that a demoted one refused, which had no effect, waits for the primary
 * within its time limit. Failed commands reject with `redis_unavailable` (retry) or `redis_refused`; inside a pipeline
 * the faults are in its result pairs. A command that timed out may still take effect: callers use versions.
 */
export function openRedis(options: RedisClientOptions): RedisClient {
  const commandTimeout = options.commandTimeoutMs ?? defaultCommandTimeoutMs;
  const client = new BoundedRedis({
    ...placeOf(options),
    connectTimeout: connectTimeoutMs,
    disconnectTimeout: disconnectTimeoutMs,
    commandTimeout,
    socketTimeout: Math.max(silentMs, commandTimeout),
    maxRetriesPerRequest: maxRetriesPerCommand,
    retryStrategy: (times) => Math.min(firstReconnectMs * 2 ** (times - 1), maxReconnectMs),
    enableReadyCheck: true,
    enableOfflineQueue: true,
    disableClientInfo: true,
  });
  logConnection(client, options.log.child({ part: 'redis' }));
  followRole(client);
  return client;
}

type PlaceOptions = Omit<RedisOptions, 'replyMapping'>;

/** The server or the Sentinels, and what they ask of who connects. */
function placeOf({ url, ca, ...account }: RedisClientOptions): PlaceOptions {
  const { address, ...inUrl } = splitAccount(url);
  const { username = inUrl.username, password = inUrl.password } = account;
  const asked = sentinelAddressOf(address);
  const isTls = ca !== undefined || address.startsWith('rediss');
  const tls = isTls ? { tls: ca === undefined ? {} : { ca } } : {};
  if (asked === null)
    return { ...serverOf(address), username, password, ...tls, Connector: PrimaryConnector };
  const { sentinels, name, db } = asked;
  return {
    sentinels: [...sentinels],
    name,
    db,
    username,
    password,
    sentinelUsername: inUrl.username,
    sentinelPassword: inUrl.password,
    sentinelCommandTimeout: connectTimeoutMs,
    ...(isTls ? { ...tls, sentinelTLS: tls.tls, enableTLSForSentinelMode: true } : {}),
  };
}

/** Asks a server for its role again and again, since a demoted one answers reads as if it were the primary. */
function followRole(client: BoundedRedis): void {
  const timer = setInterval(() => void client.checkRole(), roleEveryMs);
  timer.unref();
  client.once('end', () => clearInterval(timer));
}

/**
 * ioredis with three things it lacks: a bound on commands that wait for a connection, faults, and leaving a server that
 * is no primary once for all commands that it refuses.
 */
class BoundedRedis extends Redis {
  readonly #waiting = new Set<Command>();
  readonly #seen = new WeakSet<Command>();
  /** The connection that was given up last. */
  #left: Redis['stream'] | null = null;

  override sendCommand(
    command: Command,
    stream?: Parameters<Redis['sendCommand']>[1],
  ): ReturnType<Redis['sendCommand']> {
    if (ownCommands.has(command.name)) return super.sendCommand(command, stream);
    // ioredis calls again with the same command when it leaves the queue. One that was refused meanwhile is not sent.
    if (this.#seen.has(command))
      return command.isSettled && stream === undefined
        ? command.promise
        : super.sendCommand(command, stream);
    this.#seen.add(command);
    const { reject } = command;
    command.reject = (error) => {
      if (isFromDemoted(error) && !command.isSettled) this.#sendToPrimary(command);
      else reject(redisFault(error));
    };
    if (this.#isConnected || this.#admit(command)) return super.sendCommand(command, stream);
    return command.promise;
  }

  /** Leaves the server when it is no primary. */
  async checkRole(): Promise<void> {
    if (!this.#isConnected) return;
    const { stream } = this;
    const text = await this.info('replication').catch(() => '');
    if (/^role:(?!master)/m.test(text) && stream === this.stream) this.#leave();
  }

  get #isConnected(): boolean {
    return this.status === 'ready' && this.stream.writable;
  }

  /** The time limit of the command goes on. */
  #sendToPrimary(command: Command): void {
    this.#leave();
    if (this.#admit(command)) super.sendCommand(command);
  }

  /** Many commands may be in flight to a server when it is demoted; ioredis adds a listener for each call. */
  #leave(): void {
    if (this.#left === this.stream) return;
    this.#left = this.stream;
    this.disconnect(true);
  }

  /** In the queue of ioredis, which keeps those whose time is over until it connects or gives up. */
  get #queued(): number {
    const queue: unknown = Reflect.get(this, 'offlineQueue');
    return Number(Reflect.get(Object(queue), 'length') ?? 0);
  }

  #admit(command: Command): boolean {
    const waiting = Math.max(this.#waiting.size, this.#queued);
    if (waiting >= maxWaitingCommands && !this.#waiting.has(command)) {
      const facts = { waiting };
      command.reject(new Fault('redis_unavailable', 'retry', { facts }));
      return false;
    }
    this.#waiting.add(command);
    const leave = () => void this.#waiting.delete(command);
    command.promise.then(leave, leave);
    return true;
  }
}

function logConnection(client: Redis, log: Log): void {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  client.on('error', (error: Error) => {
    const nowMs = performance.now();
    if (nowMs - loggedAtMs < logEveryMs) return;
    loggedAtMs = nowMs;
    log.warn({ reason: Reflect.get(error, 'code') ?? error.name }, 'redis connection failed');
  });
  client.on('ready', () => {
    loggedAtMs = Number.NEGATIVE_INFINITY;
    log.debug({}, 'redis connected');
  });
}
