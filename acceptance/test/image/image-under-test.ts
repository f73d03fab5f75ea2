import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@pm/deploy/local/paths';

/** How a program of the image ended, and what it said. */
interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

type Variables = Readonly<Record<string, string>>;

/** This Node, or that of another platform with the emulator before it (docs/testing.md). */
const [command = process.execPath, ...emulated] =
  process.env['PM_TEST_IMAGE_NODE']?.split(' ') ?? [];

/** The files of the image in a folder where nothing of the repository is found. */
export class ImageUnderTest {
  readonly #folder = mkdtempSync(join(tmpdir(), 'image-'));

  async build(): Promise<void> {
    const builder = join(repositoryRoot, 'deploy/image.mjs');
    await promisify(execFile)(process.execPath, [builder, this.#folder]);
  }

  /** Starts a program as a container does: from the folder, with these variables alone. */
  start(args: readonly string[], env: Variables): ChildProcess {
    const start = [...emulated, join(this.#folder, 'start.mjs'), ...args];
    return spawn(command, start, { cwd: this.#folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  /** Leaves the packages as they are on a platform for which they have no binary. */
  removeBinaries(): void {
    for (const name of ['keccak', 'secp256k1'])
      rmSync(join(this.#folder, 'node_modules', name, 'prebuilds'), { recursive: true });
  }

  /** Runs it to its end. */
  async run(args: readonly string[], env: Variables): Promise<Ended> {
    const child = this.start(args, env);
    const said = { out: '', err: '' };
    child.stdout?.on('data', (bytes: Buffer) => {
      said.out += bytes.toString('utf8');
    });
    child.stderr?.on('data', (bytes: Buffer) => {
      said.err += bytes.toString('utf8');
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...said };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
