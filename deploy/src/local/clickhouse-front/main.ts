/**
 * The local ClickHouse: an HTTP interface over the engine embedded in this process. Ends cleanly on
 * SIGTERM, on SIGINT and, with --watch-stdin, when its standard input ends: then its supervisor is
 * gone.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Session } from 'chdb';
import type { ClickhousePasswords } from '../engines/clickhouse-password.ts';
import { configureEngine } from './engine-configuration.ts';
import { quoteName } from './engine-session.ts';
import { createFront } from './http-front.ts';
import { SessionPool } from './session-pool.ts';

const mebibyte = 1024 * 1024;

const frontLimits = {
  /** Enough for two cores; more only adds memory (measured). */
  sessions: 4,
  maxWaiting: 256,
  maxWaitMs: 30_000,
  maxBodyBytes: 256 * mebibyte,
  maxStatementBytes: 4 * mebibyte,
  maxResultBytes: 256 * mebibyte,
} as const;

/** Longest wait for running queries at the end. */
const stopTimeoutMs = 8000;

interface Arguments {
  readonly port: number;
  readonly dataDir: string;
  readonly database: string;
  readonly watchStdin: boolean;
  /** Files with a password each; without them everyone writes who can connect. */
  readonly passwordFiles: ClickhousePasswords | null;
}

function readArguments(): Arguments {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      'data-dir': { type: 'string' },
      database: { type: 'string', default: 'pm' },
      'watch-stdin': { type: 'boolean', default: false },
      'writers-password': { type: 'string' },
      'readers-password': { type: 'string' },
    },
  });
  const port = Number(values.port);
  const dataDir = values['data-dir'];
  if (!Number.isInteger(port) || dataDir === undefined) {
    throw new Error(
      'usage: main.js --port <port> --data-dir <folder> [--database <name>] [--watch-stdin] ' +
        '[--writers-password <file> --readers-password <file>]',
    );
  }
  if (/[*?{}]/.test(resolve(dataDir))) {
    throw new Error(
      `the engine would read ${dataDir} as a pattern: choose a folder without * ? { }`,
    );
  }
  const { database, 'watch-stdin': watchStdin } = values;
  const { 'writers-password': writers, 'readers-password': readers } = values;
  const passwordFiles =
    writers === undefined || readers === undefined ? null : { writers, readers };
  return { port, dataDir: resolve(dataDir), database, watchStdin, passwordFiles };
}

/**
 * A session for the lifetime of the process keeps the engine loaded; it also creates the database.
 */
async function openEngine(
  dataDir: string,
  database: string,
): Promise<{ keeper: Session; facts: string[] }> {
  await mkdir(dataDir, { recursive: true });
  const emptyDir = `${dataDir}-empty`;
  await rm(emptyDir, { recursive: true, force: true });
  await mkdir(emptyDir);
  const keeper = new Session(dataDir, { connectionArgs: [configureEngine(dataDir, emptyDir)] });
  // The database the engine starts with is of kind Overlay, which knows less than a server's.
  await keeper.queryAsync(`CREATE DATABASE IF NOT EXISTS ${quoteName(database)} ENGINE = Atomic`);
  const answer = await keeper.queryAsync('SELECT version(), timezone()', {
    format: 'TabSeparated',
  });
  return { keeper, facts: answer.text().trim().split('\t') };
}

async function readPasswords({
  writers,
  readers,
}: ClickhousePasswords): Promise<ClickhousePasswords> {
  const passwordIn = async (file: string) => (await readFile(file, 'utf8')).trim();
  return { writers: await passwordIn(writers), readers: await passwordIn(readers) };
}

async function start(): Promise<void> {
  const { port, dataDir, database, watchStdin, passwordFiles } = readArguments();
  const passwords = passwordFiles === null ? null : await readPasswords(passwordFiles);
  const rowsDir = `${dataDir}-rows`;
  await rm(rowsDir, { recursive: true, force: true });
  await mkdir(rowsDir, { recursive: true });
  const { keeper, facts } = await openEngine(dataDir, database);
  const [version = 'unknown', timezone = 'UTC'] = facts;
  const pool = new SessionPool({ ...frontLimits, dataDir, database });
  const server = createFront({ ...frontLimits, pool, rowsDir, version, timezone, passwords });
  server.listen(port, '127.0.0.1', () => {
    console.log(`ClickHouse ${version} listens on http://127.0.0.1:${port}, data in ${dataDir}`);
  });
  let stopping = false;
  const stop = (reason: string): void => {
    if (stopping) return;
    stopping = true;
    console.log(`stopping: ${reason}`);
    setTimeout(() => process.exit(1), stopTimeoutMs).unref();
    server.close();
    server.closeIdleConnections();
    void pool.close().then(() => {
      keeper.close();
      process.exit(0);
    });
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  if (watchStdin) process.stdin.on('end', () => stop('the supervisor is gone')).resume();
}

await start();
