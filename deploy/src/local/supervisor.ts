import type { ChildProcess } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ManagedProcess, Progress } from './managed-process.ts';
import { defaultMinFreeBytes, requireDiskSpace } from './probes.ts';
import { endOrphans, ProcessLedger } from './process-ledger.ts';
import { tailOf } from './process-log.ts';
import { enoughOf, groupOf, quorumOf } from './quorum.ts';
import { type Ends, pauseMsAfter } from './restart-pauses.ts';
import { lockDataFolder, type RunLock } from './run-lock.ts';
import { messageOf, StackError } from './stack-error.ts';
import { startWatchdog } from './start-watchdog.ts';
import { type ProcessStatus, SupervisedProcess } from './supervised-process.ts';

export interface SupervisorOptions {
  /** Locked while the supervisor runs, and its owner's alone; contains the list of its processes. */
  readonly dataDir: string;
  readonly progress: Progress;
  /**
   * Called once, after everything has been stopped, when a process that may not die has died, or one without which
   * the others do not go on has died too often. Without it the message goes to standard error and this process ends
   * with code 1.
   */
  readonly onFatal?: (failure: StackError) => void;
  readonly minFreeBytes?: number;
}

/** Rights of a data folder. */
const ownerOnly = 0o700;
/** Longest pause before a restart while enough others take the work over: they need the processors for it. */
const spareDelayMs = 2_000;
const sparePollMs = 50;
/** Deaths in a row, each within a minute of its start, after which the stack ends; see `goesOn` for the exception. */
const maxDeathsInARow = 8;
/** A process that has lived this long begins with short pauses again. */
const goodLifeMs = 60_000;
const defaultPatienceMs = 60_000;
/** Between two looks at whether a process waits for engines. */
const waitingLookMs = 100;

export interface StartOptions {
  /**
   * A process that fails is started again after pauses that grow, and the others go on without it, unless its
   * configuration is wrong or its port is taken; one that is not ready in its time and works is left to it. Otherwise
   * the first failure ends the start.
   */
  readonly goesOn?: boolean;
  /** With `goesOn`: how long others wait for one that they depend on and that is not ready; a minute unless given. */
  readonly patienceMs?: number;
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
  /** Processes that the others go on without. */
  readonly #dispensable = new Set<string>();
  /** Reason of the last failed start that was reported, by process. */
  readonly #reported = new Map<string, string>();
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
   * Starts more processes and waits until all are ready, or with `goesOn` until each is, has failed once, is late, or
   * has waited for engines for `patienceMs`. When one fails, those already started go on: the caller stops.
   *
   * @throws StackError of the first that failed, with `goesOn` of the last if none is ready or late that needs
   * anything; BAD_DESCRIPTION for an unknown or circular dependency.
   */
  async start(
    descriptions: readonly ManagedProcess[],
    { goesOn = false, patienceMs = defaultPatienceMs }: StartOptions = {},
  ): Promise<void> {
    this.#requireOrder(descriptions);
    const added = descriptions.map((description) => this.#add(description));
    if (goesOn) for (const { name } of added) this.#dispensable.add(name);
    const started = new Map<string, Promise<void>>();
    const failures: unknown[] = [];
    const startOf = goesOn
      ? (process: SupervisedProcess) => this.#startOrWait(process, { failures, patienceMs })
      : (process: SupervisedProcess) => this.#startFirst(process);
    for (const process of added) {
      const needs = process.description.dependsOn.map((name) => {
        const need = enoughOf(quorumOf(name, added, started));
        return goesOn && started.has(name) ? this.#withPatience(need, patienceMs) : need;
      });
      const start = Promise.all(needs).then(() => startOf(process));
      // Awaited below; a failure must not count as unhandled before that.
      start.catch(() => undefined);
      started.set(process.name, start);
    }
    const names = [...started.keys()];
    await Promise.all(names.map((name) => enoughOf(quorumOf(name, added, started))));
    const isAnyReady = added.some(
      ({ state, isLate, description }) =>
        (state === 'ready' || isLate) && description.standsAlone !== true,
    );
    if (failures.length > 0 && !isAnyReady) throw failures.at(-1);
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
    await this.#startFirst(process);
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

  /** Its engine may be away at a start, or too slow for it: then it is started again. */
  async #startFirst(process: SupervisedProcess): Promise<void> {
    try {
      await this.#startOne(process);
    } catch (error) {
      const { restart, quorum } = process.description;
      if (!restart || this.#stopped !== undefined) throw error;
      // The others of its quorum may be enough.
      if (quorum !== undefined) void this.#revive(process);
      const isAgain = process.endedForEngine && quorum === undefined;
      if (!isAgain || !(await this.#pause(process, this.#countEnd(process)))) throw error;
      await this.#startFirst(process);
    }
  }

  /** Resolves too when the process has waited for engines for `patienceMs`, or is late; it goes on. */
  async #startOrWait(
    process: SupervisedProcess,
    { failures, patienceMs }: { readonly failures: unknown[]; readonly patienceMs: number },
  ): Promise<void> {
    const settled = new AbortController();
    const start = this.#startOrRetry(process, failures).finally(() => settled.abort());
    await Promise.race([start, this.#untilWaited(process, { patienceMs, settled })]);
  }

  async #untilWaited(
    process: SupervisedProcess,
    { patienceMs, settled }: { readonly patienceMs: number; readonly settled: AbortController },
  ): Promise<void> {
    const signal = AbortSignal.any([settled.signal, this.#abort.signal]);
    for (let fromMs = performance.now(); performance.now() - fromMs < patienceMs; ) {
      await sleep(waitingLookMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return await new Promise(() => {});
      if (process.isLate) return this.#options.progress(`${process.name}: ${process.reason}`);
      if (process.state !== 'waiting') fromMs = performance.now();
    }
  }

  /** A failure by its own fault is among `failures`, and the process is started again until it is ready. */
  async #startOrRetry(process: SupervisedProcess, failures: unknown[]): Promise<void> {
    try {
      await this.#startOne(process);
    } catch (error) {
      const { restart, quorum } = process.description;
      const mayPass = restart && quorum === undefined && process.failureMayPass;
      if (!mayPass || this.#stopped !== undefined) throw error;
      if (!process.endedForEngine) failures.push(error);
      this.#report(process, error);
      void this.#revive(process);
    }
  }

  /** Resolves or rejects with `need`, or resolves after `patienceMs`. */
  async #withPatience(need: Promise<void>, patienceMs: number): Promise<void> {
    const waited = new AbortController();
    const signal = AbortSignal.any([waited.signal, this.#abort.signal]);
    const patience = sleep(patienceMs, undefined, { signal }).catch(() => undefined);
    try {
      await Promise.race([need, patience]);
    } finally {
      waited.abort();
    }
  }

  async #startOne(process: SupervisedProcess): Promise<void> {
    if (this.#stopped !== undefined) throw new StackError('START_FAILED', 'the stack is stopping');
    const beginMs = performance.now();
    this.#options.progress(`${process.name}: starting`);
    await process.start({ asLongAsItWorks: this.#dispensable.has(process.name) });
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
    if (process.description.restart) void this.#revive(process);
    else void this.#fail(process, `died (${reason}), and the stack cannot go on without it`);
  }

  /** Starts a process that has ended again, after pauses that grow, until it is ready. */
  async #revive(process: SupervisedProcess): Promise<void> {
    for (;;) {
      const ends = this.#countEnd(process);
      if (ends.deaths > maxDeathsInARow && !this.#dispensable.has(process.name)) {
        await this.#fail(process, `died ${ends.deaths} times in a row (last: ${process.reason})`);
        return;
      }
      if (!(await this.#pause(process, ends))) return;
      try {
        await this.#startOne(process);
        return;
      } catch (error) {
        if (this.#stopped !== undefined) return;
        this.#report(process, error);
      }
    }
  }

  /** The pause before a restart. @returns whether the process is to be started still. */
  async #pause(process: SupervisedProcess, ends: Ends): Promise<boolean> {
    const pauseMs = pauseMsAfter(ends);
    process.restarts += 1;
    const untilMs = performance.now() + spareDelayMs;
    try {
      const { signal } = this.#abort;
      await sleep(pauseMs, undefined, { signal });
      while (performance.now() < untilMs && this.#isSpare(process))
        await sleep(sparePollMs, undefined, { signal });
    } catch {
      // The stack stops.
      return false;
    }
    // Otherwise it was restarted meanwhile.
    return process.state === 'died' || process.state === 'failed';
  }

  /** A failed start, with the end of the log unless the one before had the same reason. */
  #report(process: SupervisedProcess, error: unknown): void {
    const { name, reason } = process;
    const isKnown = this.#reported.get(name) === reason;
    this.#reported.set(name, reason);
    const what = isKnown ? `${name} ${reason}` : messageOf(error);
    this.#options.progress(`${name}: not ready, started again after a pause: ${what}`);
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

  /**
   * Counts the end of a process. One that ends because an engine is away, or that is one of several, is started again
   * however often it ends.
   */
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
