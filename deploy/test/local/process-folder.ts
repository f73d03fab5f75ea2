import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ManagedProcess, processEnvironment } from '../../src/local/managed-process.ts';
import {
  type Supervisor,
  type SupervisorOptions,
  startProcesses,
} from '../../src/local/supervisor.ts';

/** A child that records its start and stop in a file that all children of a test share. */
export const childSource = `
  const { appendFileSync, writeFileSync } = require('node:fs');
  const [diary, name] = process.argv.slice(1);
  process.on('SIGTERM', () => {
    if (name.startsWith('stubborn')) return;
    appendFileSync(diary, name + ' stopped\\n');
    process.exit(0);
  });
  appendFileSync(diary, name + ' started\\n');
  writeFileSync(diary + '.' + name, String(process.pid));
  setInterval(() => undefined, 1000);
`;

/** A folder with supervisors in it, and the processes that they start. */
export class ProcessFolder {
  readonly folder = mkdtempSync(join(tmpdir(), 'pm-supervisor-'));
  readonly #running: Supervisor[] = [];

  get diary(): string {
    return join(this.folder, 'diary');
  }

  readonly fake = (name: string, changes: Partial<ManagedProcess> = {}): ManagedProcess => {
    return {
      name,
      command: process.execPath,
      args: ['-e', childSource, this.diary, name],
      env: processEnvironment(),
      cwd: this.folder,
      logFile: join(this.folder, 'logs', `${name}.log`),
      dependsOn: [],
      ports: [],
      restart: false,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 3000,
      readyTimeoutMs: 10_000,
      memoryHintBytes: 0,
      watchesStdin: false,
      prepare: async () => rmSync(`${this.diary}.${name}`, { force: true }),
      ready: async () => {
        if (!existsSync(`${this.diary}.${name}`)) throw new Error('not yet');
      },
      ...changes,
    };
  };

  readonly start = async (
    descriptions: readonly ManagedProcess[],
    changes: Partial<SupervisorOptions> = {},
  ): Promise<Supervisor> => {
    const dataDir = join(this.folder, 'data');
    const options = { dataDir, progress: () => undefined, ...changes };
    const supervisor = await startProcesses(options, descriptions);
    this.#running.push(supervisor);
    return supervisor;
  };

  async close(): Promise<void> {
    for (const supervisor of this.#running) await supervisor.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Tests that mostly wait for pauses of a supervisor run beside the others, each in a folder of its own. */
export const inOwnFolder =
  <Values extends readonly unknown[]>(
    run: (own: ProcessFolder, ...values: Values) => Promise<void>,
  ): ((...values: Values) => Promise<void>) =>
  async (...values) => {
    const own = new ProcessFolder();
    try {
      await run(own, ...values);
    } finally {
      await own.close();
    }
  };

export function stateOf(supervisor: Supervisor, name: string): string | undefined {
  return supervisor.status().find((status) => status.name === name)?.state;
}

export function restartsOf(supervisor: Supervisor, name: string): number {
  return supervisor.status().find((status) => status.name === name)?.restarts ?? 0;
}

export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('waited too long');
    await sleep(20);
  }
}
