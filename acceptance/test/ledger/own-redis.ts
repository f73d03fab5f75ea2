import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureEngineJars } from '@pm/deploy/local/engines/download-engines';
import { findRedis } from '@pm/deploy/local/engines/redis-server';
import { defaultCacheDir } from '@pm/deploy/local/paths';
import { holdFreePorts } from '@pm/deploy/local/ports';

type Settings = Readonly<Record<string, string>>;

/** The primary that a Sentinel watches, and the password of its servers. */
interface Watched {
  readonly name: string;
  readonly port: number;
  readonly password: string;
}

/** A Redis of a test: nothing is kept on disk, writes beyond its memory are refused. It can be killed and come back. */
export class OwnRedis {
  readonly port: number;
  readonly #command: string;
  readonly #arguments: readonly string[];
  readonly #folder: string;
  #server: ChildProcess | null = null;

  private constructor(command: string, port: number, settings: Settings, watched?: Watched) {
    this.port = port;
    this.#command = command;
    this.#folder = mkdtempSync(join(tmpdir(), 'own-redis-'));
    const all = { port: String(port), bind: '127.0.0.1', dir: this.#folder, ...settings };
    this.#arguments = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
    if (watched === undefined) return;
    const file = join(this.#folder, 'sentinel.conf');
    writeFileSync(file, sentinelLines(watched).join('\n'));
    this.#arguments = [file, '--sentinel', ...this.#arguments];
  }

  static start(settings: Settings = {}): Promise<OwnRedis> {
    return OwnRedis.#start({ save: '', 'maxmemory-policy': 'noeviction', ...settings });
  }

  /** Starts a Sentinel, which decides alone. */
  static startSentinel(watched: Watched): Promise<OwnRedis> {
    return OwnRedis.#start({}, watched);
  }

  static async #start(settings: Settings, watched?: Watched): Promise<OwnRedis> {
    const command = await findRedis(await ensureEngineJars(defaultCacheDir, () => {}), 'auto');
    const held = await holdFreePorts(1);
    await held.release();
    const redis = new OwnRedis(command, held.ports[0] ?? 0, settings, watched);
    redis.start();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  start(): void {
    this.#server = spawn(this.#command, [...this.#arguments], { stdio: 'ignore' });
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

function sentinelLines({ name, port, password }: Watched): readonly string[] {
  return [
    `sentinel monitor ${name} 127.0.0.1 ${port} 1`,
    `sentinel auth-pass ${name} ${password}`,
    `sentinel down-after-milliseconds ${name} 500`,
  ];
}
