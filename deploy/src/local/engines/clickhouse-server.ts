import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ManagedProcess, mebibyte, processEnvironment } from '../managed-process.ts';
import { builtEntry } from '../paths.ts';
import { loopback } from '../ports.ts';
import { requireOk } from '../probes.ts';
import type { ClickhousePasswords } from './clickhouse-password.ts';

export interface ClickHouseOptions {
  readonly dataDir: string;
  readonly logDir: string;
  readonly port: number;
  /**
   * Files with the passwords. Null for the engines that tests share: everyone writes who can connect, and suites wait
   * for tables as for anything else.
   */
  readonly passwordFiles: ClickhousePasswords | null;
}

/** Four sessions, the session that keeps the engine loaded, and threads for files and compression. */
const threadCount = 12;

/** Inserts and merges take a whole core of a small machine; orders do not wait for them. */
const afterOrders = 10;

function passwordArgs(files: ClickhousePasswords | null): readonly string[] {
  if (files === null) return [];
  return ['--writers-password', files.writers, '--readers-password', files.readers];
}

/** The embedded engine with its HTTP front; see clickhouse-front/. The database is `pm`. */
export function clickhouseServer(options: ClickHouseOptions): ManagedProcess {
  const folder = join(options.dataDir, 'clickhouse');
  return {
    name: 'clickhouse',
    command: process.execPath,
    args: [
      builtEntry('local/clickhouse-front/main.js'),
      '--watch-stdin',
      '--port',
      String(options.port),
      '--data-dir',
      folder,
      ...passwordArgs(options.passwordFiles),
    ],
    env: processEnvironment({ UV_THREADPOOL_SIZE: String(threadCount) }),
    ...(options.passwordFiles === null ? {} : { niceness: afterOrders }),
    cwd: options.dataDir,
    logFile: join(options.logDir, 'clickhouse.log'),
    dependsOn: [],
    ports: [options.port],
    restart: true,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 15_000,
    // It attaches every part that it has.
    readyTimeoutMs: 300_000,
    memoryHintBytes: 400 * mebibyte,
    watchesStdin: true,
    prepare: async () => {
      await mkdir(folder, { recursive: true });
    },
    ready: () => requireOk(`http://${loopback}:${options.port}/ping`),
  };
}
