import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from '@pm/deploy/local/paths';

const preloaded = join(repositoryRoot, 'acceptance/dist/faults/movable-clock.js');
/** A process follows its file within so long, on any machine. */
const followedMaxMs = 60_000;
/** A process looks every 50 ms, and a test sets tens of clocks. */
const lookEveryMs = 20;

/** The wall clocks of processes, each set by itself. */
export class MovableClocks {
  readonly #folder = mkdtempSync(join(tmpdir(), 'clocks-'));
  readonly #names: readonly string[];

  /** `names`: of services or of single processes. */
  constructor(names: readonly string[]) {
    this.#names = names;
    this.reset();
  }

  /** All are right for processes that start after this. */
  reset(): void {
    for (const name of this.#names) {
      writeFileSync(this.#fileOf(name), '0');
      writeFileSync(`${this.#fileOf(name)}.seen`, '0');
    }
  }

  /** Variables of the processes, by name. */
  env(): Readonly<Record<string, Readonly<Record<string, string>>>> {
    const preload = pathToFileURL(preloaded).href;
    const variablesOf = (name: string) => ({
      NODE_OPTIONS: `--import=${preload}`,
      MOVABLE_CLOCK_FILE: this.#fileOf(name),
    });
    return Object.fromEntries(this.#names.map((name) => [name, variablesOf(name)]));
  }

  /** Resolves when the process has the time that is off by so many milliseconds. */
  async set(name: string, offsetMs: number): Promise<void> {
    const file = this.#fileOf(name);
    writeFileSync(file, String(offsetMs));
    const waitUntil = performance.now() + followedMaxMs;
    while (readFileSync(`${file}.seen`, 'utf8') !== String(offsetMs)) {
      if (performance.now() > waitUntil)
        throw new Error(`the clock of ${name} is not set in ${followedMaxMs} ms`);
      await wait(lookEveryMs);
    }
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #fileOf(name: string): string {
    return join(this.#folder, name);
  }
}
