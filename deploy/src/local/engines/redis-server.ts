import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../command.ts';
import {
  type ManagedProcess,
  mebibyte,
  processEnvironment,
  WaitsForEngines,
} from '../managed-process.ts';
import { loopback } from '../ports.ts';
import { askPort } from '../probes.ts';
import { StackError } from '../stack-error.ts';
import type { EngineJars } from './download-engines.ts';

export interface RedisOptions {
  /** See `findRedis`. */
  readonly command: string;
  readonly dataDir: string;
  readonly logDir: string;
  readonly port: number;
}

const requiredVersion = [6, 2] as const;
const checkTimeoutMs = 10_000;

/** The version in the output of `redis-server --version`. */
export function parseRedisVersion(
  output: string,
): readonly [major: number, minor: number] | undefined {
  const match = /v=(\d+)\.(\d+)/.exec(output);
  return match === null ? undefined : [Number(match[1]), Number(match[2])];
}

/**
 * The redis-server to run: the one on PATH if it is new enough, else the static one that came with
 * the engines.
 *
 * @param choice value of PM_REDIS: `bundled` leaves PATH alone.
 * @throws StackError TOOL_MISSING when there is none, BAD_DESCRIPTION for an unknown choice.
 */
export async function findRedis(jars: EngineJars, choice: string | undefined): Promise<string> {
  if (choice !== undefined && choice !== '' && choice !== 'bundled' && choice !== 'auto') {
    throw new StackError(
      'BAD_DESCRIPTION',
      `PM_REDIS=${choice} is unknown; it may be auto or bundled`,
    );
  }
  if (choice !== 'bundled' && (await isOnPath())) return 'redis-server';
  if (jars.bundledRedis !== undefined) return jars.bundledRedis;
  throw new StackError(
    'TOOL_MISSING',
    `missing: redis-server ${requiredVersion.join('.')} or newer, and none is bundled for ${process.platform}/${process.arch}. ` +
      'On Debian or Ubuntu: sudo apt-get install -y redis-server; on macOS: brew install redis',
  );
}

async function isOnPath(): Promise<boolean> {
  const { output } = await runCommand('redis-server', ['--version'], {
    timeoutMs: checkTimeoutMs,
  });
  const version = parseRedisVersion(output);
  if (version === undefined) return false;
  const [major, minor] = version;
  return (
    major > requiredVersion[0] || (major === requiredVersion[0] && minor >= requiredVersion[1])
  );
}

/**
 * Redis with an append-only file, synced each second; it never evicts, since books can be rebuilt but keys cannot.
 */
export function redisServer(options: RedisOptions): ManagedProcess {
  const folder = join(options.dataDir, 'redis');
  const settings: readonly (readonly [name: string, value: string])[] = [
    ['bind', loopback],
    ['protected-mode', 'yes'],
    ['daemonize', 'no'],
    ['appendonly', 'yes'],
    ['appendfsync', 'everysec'],
    ['save', ''],
    ['maxmemory-policy', 'noeviction'],
    ['dir', folder],
    ['port', String(options.port)],
  ];
  return {
    name: 'redis',
    command: options.command,
    args: settings.flatMap(([name, value]) => [`--${name}`, value]),
    env: processEnvironment(),
    cwd: folder,
    logFile: join(options.logDir, 'redis.log'),
    dependsOn: [],
    ports: [options.port],
    restart: true,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 10_000,
    readyTimeoutMs: 30_000,
    memoryHintBytes: 20 * mebibyte,
    watchesStdin: false,
    prepare: async () => {
      await mkdir(folder, { recursive: true });
    },
    ready: async () => {
      requirePong((await askPort(options.port, Buffer.from('PING\r\n'))).toString('latin1'));
    },
  };
}

/**
 * Throws for any answer but `PONG`; `WaitsForEngines` while the server reads its file, which takes half a minute with
 * two million wallets, and has no limit.
 */
export function requirePong(answer: string): void {
  if (answer.startsWith('-LOADING')) throw new WaitsForEngines(['its append-only file']);
  if (!answer.startsWith('+PONG')) throw new Error(answer.trim());
}
