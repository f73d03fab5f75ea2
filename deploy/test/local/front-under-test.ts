import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ClickhousePasswords,
  clickhousePasswordFiles,
  loadOrMakeClickhousePasswords,
} from '../../src/local/engines/clickhouse-password.ts';
import { clickhouseServer } from '../../src/local/engines/clickhouse-server.ts';
import { holdFreePorts } from '../../src/local/ports.ts';

/** The local ClickHouse of a data folder of its own. */
export class FrontUnderTest {
  readonly folder: string;
  readonly url: string;
  readonly passwords: ClickhousePasswords;
  readonly #server: ChildProcess;

  private constructor(folder: string, url: string, server: ChildProcess) {
    this.folder = folder;
    this.url = url;
    this.passwords = loadOrMakeClickhousePasswords(folder);
    this.#server = server;
  }

  static async open(): Promise<FrontUnderTest> {
    const folder = mkdtempSync(join(tmpdir(), 'pm-front-'));
    const held = await holdFreePorts(1);
    await held.release();
    const port = held.ports[0] ?? 0;
    loadOrMakeClickhousePasswords(folder);
    const passwordFiles = clickhousePasswordFiles(folder);
    const description = clickhouseServer({ dataDir: folder, logDir: folder, port, passwordFiles });
    await description.prepare();
    const { command, args, env, cwd } = description;
    const stdio = ['pipe', 'inherit', 'inherit'] as const;
    const server = spawn(command, [...args], { cwd, env: { ...env }, stdio: [...stdio] });
    const isReady = () =>
      description.ready().then(
        () => true,
        () => false,
      );
    while (server.exitCode === null && !(await isReady())) await sleep(50);
    return new FrontUnderTest(folder, `http://127.0.0.1:${port}`, server);
  }

  /** A statement, by default of `default` with the password of the writers. */
  post(
    path: string,
    body: string | Buffer,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const signed = { 'X-ClickHouse-Key': this.passwords.writers, ...headers };
    return fetch(`${this.url}/${path}`, { method: 'POST', body, headers: signed });
  }

  /** A statement of a reader: its result, and the code of an error. */
  async read(
    sql: string,
    path = '',
  ): Promise<{ readonly code: string | null; readonly text: string }> {
    const headers = { 'X-ClickHouse-Key': this.passwords.readers };
    const answer = await this.post(path, sql, headers);
    const code = answer.headers.get('x-clickhouse-exception-code');
    return { code, text: await answer.text() };
  }

  /** Ends it as the end of its supervisor does; its exit code. */
  async close(): Promise<number | null> {
    const ended = once(this.#server, 'exit');
    this.#server.stdin?.end();
    const [code] = (await ended) as [number | null];
    rmSync(this.folder, { recursive: true, force: true });
    return code;
  }
}
