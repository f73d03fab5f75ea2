import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

/** Works without a pause, and ends with the process that started it, whose end closes its input. */
const work = `
process.stdin.on('close', () => process.exit(0)).resume();
const spin = () => { for (const end = performance.now() + 20; performance.now() < end; ); setImmediate(spin); };
spin();
`;

/** Processes that keep every core busy, so that whatever is tested beside them is often late. */
export class BusyCores {
  readonly #processes: readonly ChildProcess[];

  constructor() {
    this.#processes = Array.from({ length: availableParallelism() }, () =>
      spawn(process.execPath, ['-e', work], { stdio: ['pipe', 'ignore', 'inherit'] }),
    );
  }

  /** Resolves when all of them have ended. */
  async end(): Promise<void> {
    const ends = this.#processes.map(async (one) => {
      if (one.exitCode === null && one.kill('SIGKILL')) await once(one, 'exit');
    });
    await Promise.all(ends);
  }
}
