import { type Command, Redis } from 'ioredis';
import { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { redisFault } from './faults.ts';

export interface RedisClientOptions {
  /** `redis://` or `rediss://`, with user, password and database when needed. */
  readonly url: string;
  /** Certificates of authorities for `rediss://`, PEM; those of Node by default. */
  readonly ca?: string;
  /** In place of those in the URL. */
  readonly username?: string;
  readonly password?: string;
  readonly log: Log;
  /** Time limit of one command, including the wait for a connection, milliseconds. */
  readonly commandTimeoutMs?: number;
}

/** ioredis' client; every failed command rejects with a `Fault`. */
export type RedisClient = Redis;

const connectTimeoutMs = 2_000;
const defaultCommandTimeoutMs = 2_000;
const firstReconnectMs = 50;
const maxReconnectMs = 2_000;
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
 * in time and the waiting ones in number. Failed commands reject with `redis_unavailable` (retry) or `redis_refused`;
 * inside a pipeline the faults are in its result pairs. A command that timed out may still take effect: callers use
 * versions.
 */
export function openRedis(options: RedisClientOptions): RedisClient {
  const { ca, username, password } = options;
  const client = new BoundedRedis(options.url, {
    ...(ca === undefined ? {} : { tls: { ca } }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    connectTimeout: connectTimeoutMs,
    commandTimeout: options.commandTimeoutMs ?? defaultCommandTimeoutMs,
    maxRetriesPerRequest: maxRetriesPerCommand,
    retryStrategy: (times) => Math.min(firstReconnectMs * 2 ** (times - 1), maxReconnectMs),
    enableReadyCheck: true,
    enableOfflineQueue: true,
    disableClientInfo: true,
  });
  logConnection(client, options.log.child({ part: 'redis' }));
  return client;
}

/** ioredis with two things it lacks: a bound on commands that wait for a connection, and faults. */
class BoundedRedis extends Redis {
  #waiting = 0;
  readonly #seen = new WeakSet<Command>();

  override sendCommand(
    command: Command,
    stream?: Parameters<Redis['sendCommand']>[1],
  ): ReturnType<Redis['sendCommand']> {
    // ioredis calls again with the same command when it leaves the queue.
    if (ownCommands.has(command.name) || this.#seen.has(command)) {
      return super.sendCommand(command, stream);
    }
    this.#seen.add(command);
    const { reject } = command;
    command.reject = (error) => reject(redisFault(error));
    if (this.status !== 'ready' && !this.#admit(command)) return command.promise;
    return super.sendCommand(command, stream);
  }

  #admit(command: Command): boolean {
    if (this.#waiting >= maxWaitingCommands) {
      const facts = { waiting: this.#waiting };
      command.reject(new Fault('redis_unavailable', 'retry', { facts }));
      return false;
    }
    this.#waiting += 1;
    const leave = () => {
      this.#waiting -= 1;
    };
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
