import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureEngineJars } from '@pm/deploy/local/engines/download-engines';
import { findRedis } from '@pm/deploy/local/engines/redis-server';
import { defaultCacheDir } from '@pm/deploy/local/paths';
import { holdFreePorts } from '@pm/deploy/local/ports';

/** A Redis of a test: nothing is kept on disk, writes beyond its memory are refused. It can be killed and come back. */
export class OwnRedis {
  readonly url: string;
  readonly #command: string;
  readonly #settings: readonly string[];
  readonly #folder = mkdtempSync(join(tmpdir(), 'own-redis-'));
  #server: ChildProcess | null = null;

  private constructor(command: string, port: number, settings: Readonly<Record<string, string>>) {
    this.url = `redis://127.0.0.1:${port}`;
    this.#command = command;
    const all = {
      port: String(port),
      bind: '127.0.0.1',
      save: '',
      dir: this.#folder,
      'maxmemory-policy': 'noeviction',
      ...settings,
    };
    this.#settings = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
  }

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<OwnRedis> {
    const command = await findRedis(await ensureEngineJars(defaultCacheDir, () => {}), 'auto');
    const held = await holdFreePorts(1);
    await held.release();
    const redis = new OwnRedis(command, held.ports[0] ?? 0, settings);
    redis.start();
    return redis;
  }

  start(): void {
    this.#server = spawn(this.#command, [...this.#settings], { stdio: 'ignore' });
  }

  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
