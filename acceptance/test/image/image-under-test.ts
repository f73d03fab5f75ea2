import { execFile, spawn } from 'node:child_process';
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

/** The files of the image in a folder where nothing of the repository is found. */
export class ImageUnderTest {
  readonly #folder = mkdtempSync(join(tmpdir(), 'image-'));

  async build(): Promise<void> {
    const builder = join(repositoryRoot, 'deploy/image.mjs');
    await promisify(execFile)(process.execPath, [builder, this.#folder]);
  }

  /** Runs a program as a container does: from the folder, with these variables alone. */
  async run(args: readonly string[], env: Variables): Promise<Ended> {
    const start = [join(this.#folder, 'start.mjs'), ...args];
    const child = spawn(process.execPath, start, { cwd: this.#folder, env });
    const said = { out: '', err: '' };
    child.stdout.on('data', (bytes: Buffer) => {
      said.out += bytes.toString('utf8');
    });
    child.stderr.on('data', (bytes: Buffer) => {
      said.err += bytes.toString('utf8');
    });
    child.stdin.end();
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...said };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
