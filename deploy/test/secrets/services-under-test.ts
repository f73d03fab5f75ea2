import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Services as processes, with every line they say. */
export class ServicesUnderTest {
  readonly said: string[] = [];
  readonly #children: ChildProcess[] = [];
  readonly #shared: Readonly<Record<string, string>>;

  constructor(shared: Readonly<Record<string, string>>) {
    this.#shared = shared;
  }

  start(room: string, environment: Readonly<Record<string, string>>): void {
    const main = join(__dirname, '../../..', room, 'dist/main.js');
    const { PATH } = process.env;
    const child = spawn(process.execPath, [main], {
      env: { PATH, ...this.#shared, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes: Buffer) => this.said.push(bytes.toString('utf8')));
    }
    this.#children.push(child);
  }

  async stop(): Promise<void> {
    for (const child of this.#children) {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  }
}
