import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommand } from '@pm/deploy/local/command';
import { processEnvironment } from '@pm/deploy/local/managed-process';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { loopback, type PortName } from '@pm/deploy/local/ports';
import { reasonsIn } from '@pm/deploy/local/probes';
import { messageOf } from '@pm/deploy/local/stack-error';
import { type Control, openControl } from '@pm/deploy/stack/control';
import { type RunningStack, type StackOptions, startStack } from '@pm/deploy/stack/stack';
import type { MovableClocks } from '../faults/movable-clocks.ts';
import type { DrillTls } from './drill-tls.ts';
import { mayMount, unmount, unmountBelow } from './mounts.ts';
import { Said } from './said.ts';

/** Services that tell an operator how they are, each with the port for it. */
const opsPorts = {
  matcher: 'matcherOps',
  projectors: 'projectorsOps',
  ingress: 'ingressOps',
  operator: 'operatorOps',
  'query-api': 'queryApiOps',
  streams: 'streamsOps',
} as const satisfies Readonly<Record<string, PortName>>;

export type ServiceName = keyof typeof opsPorts;

export const services = Object.keys(opsPorts) as readonly ServiceName[];

/** A command of an operator ends within this, milliseconds. */
const commandMaxMs = 600_000;
const askMaxMs = 2_000;

/** Where drills keep what they need beside the data folder of the exchange. */
export interface DrillFolders {
  /** The data folder. */
  readonly data: string;
  /** A copy of it, made while nothing ran. */
  readonly older: string;
  /** The data folder of another installation. */
  readonly other: string;
  readonly backups: string;
  /** File with the passphrase of backups. */
  readonly passphrase: string;
}

export interface DrillParts {
  readonly options: StackOptions;
  readonly clocks: MovableClocks;
  readonly tls: DrillTls;
  readonly diskBytes: number;
}

/** An exchange on one data folder, which is stopped, damaged and started as often as a drill needs it. */
export class DrilledExchange {
  readonly folders: DrillFolders;
  readonly said: Said;
  /** Wall clocks of its services. */
  readonly clocks: MovableClocks;
  readonly tls: DrillTls;
  /** Size of its disk, where it has one of its own. */
  readonly diskBytes: number;
  readonly #options: StackOptions;
  #stack: RunningStack | null = null;
  #control: Control | null = null;

  constructor(folders: DrillFolders, { options, clocks, tls, diskBytes }: DrillParts) {
    this.folders = folders;
    this.clocks = clocks;
    this.tls = tls;
    this.diskBytes = diskBytes;
    this.#options = options;
    this.said = new Said(join(folders.data, 'logs'));
  }

  get baseUrl(): string {
    return `http://${loopback}:${this.#options.ports.gateway}`;
  }

  /** @throws Error while it does not run. */
  get stack(): RunningStack {
    if (this.#stack === null) throw new Error('the exchange does not run');
    return this.#stack;
  }

  /** As `npm start` on the data folder: a service that cannot start does not keep the others down. */
  async start(): Promise<void> {
    this.#stack = await startStack({
      ...this.#options,
      progress: (line) => {
        this.#options.progress(line);
        this.said.note(line);
      },
      goesOn: true,
      onFatal: ({ message }) => this.said.note(message),
      onServices: async (starting) => {
        this.#control = await openControl(this.folders.data, starting, () => this.#stack === null);
      },
    });
  }

  async stop(): Promise<void> {
    await this.#control?.close();
    await this.#stack?.stop();
    this.#control = null;
    this.#stack = null;
  }

  /** Stops it without the wait for a good order, and gives its disk back. */
  async end(): Promise<void> {
    this.#stack?.supervisor.killAll();
    await this.stop();
    if (mayMount()) await unmount(this.folders.data);
  }

  /** Stops it, does something to its data, and starts it as far as that is possible. */
  async restart(whileStopped: () => void | Promise<void> = () => {}): Promise<void> {
    await this.stop();
    await whileStopped();
    await this.start().catch((error: unknown) => this.said.note(messageOf(error)));
  }

  /** Starts it with the older copy of everything, right clocks and trusted authorities, whatever has become of it. */
  async beginAgain(): Promise<void> {
    const { data, older } = this.folders;
    await this.stop();
    await unmountBelow(data);
    this.clocks.reset();
    this.tls.reset();
    this.replace(readdirSync(data), null);
    this.replace(readdirSync(older), older);
    await this.start();
  }

  /** Stops these processes at once, does something, and starts them. */
  async without(names: readonly string[], whileStopped: () => void | Promise<void>): Promise<void> {
    const [name, ...others] = names;
    if (name === undefined) return await whileStopped();
    await this.stack.supervisor.restart(name, () => this.without(others, whileStopped));
  }

  /** Removes parts of the data folder, given by their paths in it, and puts those of another folder there if given. */
  replace(parts: readonly string[], from: string | null): void {
    for (const part of parts) {
      const here = join(this.folders.data, part);
      rmSync(here, { recursive: true, force: true });
      if (from === null || !existsSync(join(from, part))) continue;
      mkdirSync(dirname(here), { recursive: true });
      cpSync(join(from, part), here, { recursive: true, preserveTimestamps: true });
    }
  }

  /** Runs a command of the repository on the data folder, e.g. `rebuild`. @returns whether its exit code was 0. */
  async run(name: string, args: readonly string[] = []): Promise<boolean> {
    const program = join(repositoryRoot, 'operate/dist/commands', `${name}.js`);
    const { exitCode, output } = await runCommand(
      process.execPath,
      [program, '--data', this.folders.data, ...args],
      {
        env: processEnvironment({ PM_BACKUP_PASSPHRASE_FILE: this.folders.passphrase }),
        timeoutMs: commandMaxMs,
      },
    );
    for (const line of output.trimEnd().split('\n')) this.said.note(`npm run ${name}: ${line}`);
    return exitCode === 0;
  }

  /** Why services are not ready; a service that does not answer counts, too. */
  async reasons(): Promise<readonly string[]> {
    const stack = this.#stack;
    if (stack === null) return ['the exchange does not run'];
    const answers = await Promise.all(
      Object.entries(opsPorts).map(async ([name, port]) => {
        const url = `http://${loopback}:${stack.ports[port]}/ready`;
        const reasons = await reasonsAt(url);
        return reasons.map((reason) => `${name}: ${reason}`);
      }),
    );
    return answers.flat();
  }
}

async function reasonsAt(url: string): Promise<readonly string[]> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(askMaxMs) });
    const reasons = reasonsIn(await response.text());
    return response.ok || reasons.length > 0 ? reasons : ['not ready'];
  } catch {
    return ['does not answer'];
  }
}
