import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ManagedProcess, type Progress, processEnvironment } from './managed-process.ts';
import { builtEntry } from './paths.ts';
import { defaultMinFreeBytes, requireDiskSpace } from './probes.ts';
import { endOrphans, ProcessLedger } from './process-ledger.ts';
import { lockDataFolder, type RunLock } from './run-lock.ts';
import { messageOf, StackError } from './stack-error.ts';
import { type ProcessStatus, SupervisedProcess, tailOf } from './supervised-process.ts';

export interface SupervisorOptions {
  /** Locked while the supervisor runs, and its owner's alone; contains the list of its processes. */
  readonly dataDir: string;
  readonly progress: Progress;
  /**
   * Called once, after everything has been stopped, when a process that may not die has died or one
   * could not be restarted. Without it the message goes to standard error and this process ends
   * with code 1.
   */
  readonly onFatal?: (failure: StackError) => void;
  readonly minFreeBytes?: number;
}

/** Rights of a data folder. */
const ownerOnly = 0o700;
/** Back-off between restarts: none after the first death, then it doubles up to the longest. */
const secondDelayMs = 500;
const longestDelayMs = 8000;
/** Longest pause before a restart while enough others take the work over: they need the processors for it. */
const spareDelayMs = 2_000;
const sparePollMs = 50;
/** Deaths in a row, each within a minute of its start, after which a process is not restarted. */
const maxDeathsInARow = 8;
const goodLifeMs = 60_000;

/** Ends of a process in a row: by its own fault, and because an engine was away. */
interface Ends {
  deaths: number;
  waits: number;
}

/**
 * Starts processes, watches them and stops them; none of them outlives it. A process starts once its dependencies are
 * ready, in parallel where possible, and stops once all processes that depend on it have stopped.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #lock: RunLock;
  readonly #ledger: ProcessLedger;
  /** Processes that were killed for fault injection and have not been seen to end. */
  readonly #killed = new Set<string>();
  readonly #watchdog: ChildProcess;
  readonly #processes = new Map<string, SupervisedProcess>();
  readonly #endsInARow = new Map<string, Ends>();
  readonly #abort = new AbortController();
  #stopped: Promise<void> | undefined;

  private constructor(options: SupervisorOptions, lock: RunLock, ledger: ProcessLedger) {
    this.#options = options;
    this.#lock = lock;
    this.#ledger = ledger;
    this.#watchdog = startWatchdog(ledger.file, options.dataDir);
  }

  /**
   * Locks the data folder and ends processes that an earlier supervisor of this folder left running.
   *
   * @throws StackError DATA_FOLDER_LOCKED or DISK_NEARLY_FULL
   */
  static async open(options: SupervisorOptions): Promise<Supervisor> {
    await requireDiskSpace(options.dataDir, options.minFreeBytes ?? defaultMinFreeBytes);
    const lock = await lockDataFolder(options.dataDir);
    try {
      // Logs, snapshots, what engines keep, and the socket of the stack are for its owner alone.
      chmodSync(options.dataDir, ownerOnly);
      const ledger = new ProcessLedger(join(options.dataDir, 'stack.processes.json'));
      const ended = await endOrphans(ledger.file);
      if (ended.length > 0)
        options.progress(`ended processes of an earlier run: ${ended.join(', ')}`);
      return new Supervisor(options, lock, ledger);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /**
   * Starts more processes and waits until all are ready. When one fails, those already started go
   * on: the caller stops.
   *
   * @throws StackError of the first that failed; BAD_DESCRIPTION for an unknown or circular
   * dependency.
   */
  async start(descriptions: readonly ManagedProcess[]): Promise<void> {
    this.#requireOrder(descriptions);
    const added = descriptions.map((description) => this.#add(description));
    const started = new Map<string, Promise<void>>();
    for (const process of added) {
      const needs = process.description.dependsOn.map((name) =>
        enoughOf(quorumOf(name, added, started)),
      );
      const start = Promise.all(needs).then(() => this.#startFirst(process));
      // Awaited below; a failure must not count as unhandled before that.
      start.catch(() => undefined);
      started.set(process.name, start);
    }
    const names = [...started.keys()];
    await Promise.all(names.map((name) => enoughOf(quorumOf(name, added, started))));
  }

  status(): ProcessStatus[] {
    return [...this.#processes.values()].map((process) => process.status());
  }

  /**
   * Sends a signal to a process and its group, for fault injection: such a death is none of its own. @returns whether
   * it was running.
   */
  kill(name: string, signal: NodeJS.Signals): boolean {
    const isSent = this.#find(name).signal(signal);
    if (isSent && signal === 'SIGKILL') this.#killed.add(name);
    return isSent;
  }

  /** Kills all processes, whose data is of no use any more, so that `stop`, called at once, waits for none of them. */
  killAll(): void {
    for (const { name } of this.status()) this.kill(name, 'SIGKILL');
  }

  /**
   * Stops a process in good order and starts it again, also one whose death would be fatal; `whileStopped` runs in
   * between.
   */
  async restart(name: string, whileStopped: () => Promise<void> = async () => {}): Promise<void> {
    const process = this.#find(name);
    await process.stop();
    await whileStopped();
    await this.#startOne(process);
    process.restarts += 1;
  }

  /** Stops everything, dependents first. A second call waits for the first. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  #add(description: ManagedProcess): SupervisedProcess {
    const process = new SupervisedProcess(description, this.#ledger, (dead, reason) =>
      this.#onDeath(dead, reason),
    );
    this.#processes.set(description.name, process);
    return process;
  }

  /** Its engine may be away at its first start as at any other. */
  async #startFirst(process: SupervisedProcess): Promise<void> {
    try {
      await this.#startOne(process);
    } catch (error) {
      const { restart, quorum } = process.description;
      const isRevived = restart && (process.endedForEngine || quorum !== undefined);
      if (!isRevived || this.#stopped !== undefined) throw error;
      const revived = this.#revive(process, messageOf(error));
      // The others of its quorum may be enough.
      if (quorum !== undefined) throw error;
      await revived;
      if (process.state !== 'ready') throw error;
    }
  }

  async #startOne(process: SupervisedProcess): Promise<void> {
    if (this.#stopped !== undefined) throw new StackError('START_FAILED', 'the stack is stopping');
    const beginMs = performance.now();
    this.#options.progress(`${process.name}: starting`);
    await process.start();
    const seconds = ((performance.now() - beginMs) / 1000).toFixed(1);
    this.#options.progress(`${process.name}: ready after ${seconds} s`);
  }

  /**
   * Each description follows its dependencies, so there are no cycles.
   */
  #requireOrder(descriptions: readonly ManagedProcess[]): void {
    const known = new Set(this.#processes.keys());
    for (const { name, dependsOn } of descriptions) {
      const missing = dependsOn.find((needed) => !known.has(needed));
      if (missing !== undefined || known.has(name)) {
        const why = missing === undefined ? 'is described twice' : `must come after ${missing}`;
        throw new StackError('BAD_DESCRIPTION', `process ${name} ${why}`);
      }
      known.add(name);
    }
  }

  #find(name: string): SupervisedProcess {
    const process = this.#processes.get(name);
    if (process !== undefined) return process;
    const names = [...this.#processes.keys()].join(', ');
    throw new StackError('BAD_DESCRIPTION', `no process is named ${name}; there are: ${names}`);
  }

  async #stopAll(): Promise<void> {
    this.#abort.abort();
    const stops = new Map<string, Promise<void>>();
    const all = [...this.#processes.values()];
    // Later processes depend on earlier ones only, so their stops are known when an earlier one needs them.
    for (const process of all.reverse()) {
      const dependents = [...this.#processes.values()].filter((other) =>
        other.description.dependsOn.includes(process.name),
      );
      const before = Promise.all(dependents.map((other) => stops.get(other.name)));
      stops.set(
        process.name,
        before.then(() => process.stop()),
      );
    }
    await Promise.all(stops.values());
    this.#watchdog.stdin?.end('done');
    this.#lock.release();
  }

  #onDeath(process: SupervisedProcess, reason: string): void {
    if (this.#stopped !== undefined) return;
    this.#options.progress(`${process.name}: died (${reason})`);
    if (performance.now() - process.readySinceMs > goodLifeMs)
      this.#endsInARow.delete(process.name);
    if (process.description.restart) void this.#revive(process, reason);
    else void this.#fail(process, `died (${reason}), and the stack cannot go on without it`);
  }

  async #revive(process: SupervisedProcess, reason: string): Promise<void> {
    const { deaths, waits } = this.#countEnd(process);
    if (deaths > maxDeathsInARow) {
      await this.#fail(process, `died ${deaths} times in a row (last: ${reason})`);
      return;
    }
    process.restarts += 1;
    const untilMs = performance.now() + spareDelayMs;
    try {
      const { signal } = this.#abort;
      await sleep(delayMsAfter(deaths + waits), undefined, { signal });
      while (performance.now() < untilMs && this.#isSpare(process))
        await sleep(sparePollMs, undefined, { signal });
      // It was restarted meanwhile.
      if (process.state !== 'died' && process.state !== 'failed') return;
      await this.#startOne(process);
    } catch (error) {
      if (this.#stopped === undefined) await this.#revive(process, messageOf(error));
    }
  }

  /** Whether enough others are ready that do its work: most of a quorum, or one that stands in. */
  #isSpare({ description }: SupervisedProcess): boolean {
    const group = groupOf(description);
    if (group === undefined) return false;
    const members = [...this.#processes.values()].filter(
      (one) => groupOf(one.description) === group,
    );
    const ready = members.filter(({ state }) => state === 'ready').length;
    // Not `quorum.enough`: at the first start of brokers that is all of them.
    return ready >= (description.quorum === undefined ? 1 : Math.floor(members.length / 2) + 1);
  }

  /** What ends because an engine is away, or is one of several, is started again however often. */
  #countEnd(process: SupervisedProcess): Ends {
    const ends = this.#endsInARow.get(process.name) ?? { deaths: 0, waits: 0 };
    this.#endsInARow.set(process.name, ends);
    const needed = process.description.dependsOn.map((name) => this.#processes.get(name));
    const isEngineAway = needed.some((engine) => engine !== undefined && engine.state !== 'ready');
    const { quorum } = process.description;
    if (this.#killed.delete(process.name)) return ends;
    if (process.endedForEngine || isEngineAway || quorum !== undefined) ends.waits += 1;
    else ends.deaths += 1;
    return ends;
  }

  async #fail(process: SupervisedProcess, what: string): Promise<void> {
    const { logFile } = process.description;
    process.state = 'failed';
    const message = `${process.name} ${what}. The end of ${logFile}:\n${tailOf(logFile)}`;
    const failure = new StackError('PROCESS_DIED', message);
    this.#options.progress(`${process.name}: not restarted any more, stopping all processes`);
    await this.stop();
    process.state = 'failed';
    if (this.#options.onFatal === undefined) endWith(failure);
    else this.#options.onFatal(failure);
  }
}

/** The starts that a dependency on a process waits for, and how many of them are enough. */
interface QuorumStarts {
  readonly starts: readonly Promise<void>[];
  readonly enough: number;
}

/** Of a process that is one of several: the starts of all of them. */
function quorumOf(
  name: string,
  added: readonly SupervisedProcess[],
  started: ReadonlyMap<string, Promise<void>>,
): QuorumStarts {
  const quorum = added.find((process) => process.name === name)?.description.quorum;
  const members = added.filter(({ description }) => description.quorum?.name === quorum?.name);
  const names = quorum === undefined ? [name] : members.map((member) => member.name);
  const starts = names.map((one) => started.get(one) ?? Promise.resolve());
  return { starts, enough: quorum?.enough ?? 1 };
}

/** Resolves when enough have resolved; rejects with the failure by which that became impossible. */
function enoughOf({ starts, enough }: QuorumStarts): Promise<void> {
  return new Promise((resolve, reject) => {
    let [ready, failed] = [0, 0];
    for (const start of starts) {
      start.then(
        () => {
          ready += 1;
          if (ready === enough) resolve();
        },
        (error: unknown) => {
          failed += 1;
          if (failed > starts.length - enough) reject(error);
        },
      );
    }
  });
}

/** Name of the group of processes that do the same, or stand in for each other. */
function groupOf({ quorum, standInGroup }: ManagedProcess): string | undefined {
  return quorum?.name ?? standInGroup;
}

/** The wait before the restart after so many ends in a row. */
function delayMsAfter(ends: number): number {
  if (ends <= 1) return 0;
  return Math.min(secondDelayMs * 2 ** Math.min(ends - 2, 10), longestDelayMs);
}

/** Opens a supervisor and starts the processes; on failure stops the started ones. */
export async function startProcesses(
  options: SupervisorOptions,
  descriptions: readonly ManagedProcess[],
): Promise<Supervisor> {
  const supervisor = await Supervisor.open(options);
  try {
    await supervisor.start(descriptions);
    return supervisor;
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}

function endWith(failure: StackError): void {
  console.error(failure.message);
  process.exit(1);
}

/**
 * The watchdog has its own process group, so that it survives a kill of this one.
 */
function startWatchdog(ledgerFile: string, dataDir: string): ChildProcess {
  mkdirSync(dataDir, { recursive: true });
  const entry = builtEntry('local/watchdog.js');
  const args = ['--max-old-space-size=32', entry, ledgerFile, String(process.pid)];
  const watchdog = spawn(process.execPath, args, {
    cwd: dataDir,
    env: processEnvironment(),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.on('error', () => undefined);
  watchdog.stdin.on('error', () => undefined);
  // It must not keep this process alive.
  watchdog.unref();
  return watchdog;
}
