import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '@pm/kit/lifecycle';
import { type ManagedProcess, WaitsForEngines } from './managed-process.ts';
import { requireFreePort } from './ports.ts';
import { reasonOfEnd } from './process-end.ts';
import type { ProcessLedger } from './process-ledger.ts';
import { openLog, tailOf, textAfter } from './process-log.ts';
import { lowerPriority } from './process-priority.ts';
import { isAlive, sendSignal, startMarkOf, usageOf } from './process-table.ts';
import { messageOf, StackError } from './stack-error.ts';
import { StartLimit } from './start-limit.ts';

/**
 *   stopped -> starting -> ready -> stopping -> stopped
 *                 |  ^       |
 *                 |  +-- waiting (for engines, as long as it takes)
 *                 |          |
 *                 +----------+--> died or failed -> (supervisor: a pause, then starting)
 */
export type ProcessState =
  | 'stopped'
  | 'starting'
  | 'waiting'
  | 'ready'
  | 'stopping'
  | 'died'
  | 'failed';

export interface ProcessStatus {
  readonly name: string;
  /** Undefined while it does not run. */
  readonly pid: number | undefined;
  readonly state: ProcessState;
  /** Engines that it waits for. */
  readonly waitsFor: readonly string[];
  /** Why it ended or did not start the last time, or is late; '' once it is ready. */
  readonly reason: string;
  readonly restarts: number;
  readonly rssBytes: number;
  readonly cpuSeconds: number;
}

const readyPollMs = 100;
const waitingPollMs = 250;
/** How much of the end of a log is searched for the reason of an end. */
const outputMaxBytes = 64 * 1024;

/**
 * One running process: starts, probes and stops it, and reports an unexpected death.
 */
export class SupervisedProcess {
  readonly description: ManagedProcess;
  readonly #ledger: ProcessLedger;
  readonly #onDeath: (process: SupervisedProcess, reason: string) => void;
  #child: ChildProcess | undefined;
  #ended: Promise<string> = Promise.resolve('not started');
  state: ProcessState = 'stopped';
  restarts = 0;
  /** Monotonic time since when it is ready, for the back-off. */
  readySinceMs = 0;
  /** Why it ended or did not start the last time, or is late; '' once it is ready. */
  reason = '';
  /** Whether its time to become ready was over in this start, and it goes on since it works. */
  isLate = false;
  /** In the last start: whether it has come as far as a process. */
  #hasRun = false;
  #exitCode: number | null = null;
  #waitsFor: readonly string[] = [];

  constructor(
    description: ManagedProcess,
    ledger: ProcessLedger,
    onDeath: (process: SupervisedProcess, reason: string) => void,
  ) {
    this.description = description;
    this.#ledger = ledger;
    this.#onDeath = onDeath;
  }

  get name(): string {
    return this.description.name;
  }

  /** Whether it has ended because an engine was away. */
  get endedForEngine(): boolean {
    return this.#exitCode === exitCodes.engineAway;
  }

  /** Whether another start may do better than the last one: its settings are valid, and its ports were free. */
  get failureMayPass(): boolean {
    return this.#hasRun && this.#exitCode !== exitCodes.invalidConfig;
  }

  /**
   * Prepares and starts it, and waits until it is ready; with `asLongAsItWorks` for longer than its time if it works.
   *
   * @throws StackError PORT_IN_USE, or START_FAILED with the end of its log.
   */
  async start({ asLongAsItWorks = false } = {}): Promise<void> {
    this.state = 'starting';
    this.isLate = false;
    this.#hasRun = false;
    this.#exitCode = null;
    try {
      for (const port of this.description.ports) await requireFreePort(port, this.name);
      await this.description.prepare();
      this.#requireStarting();
      this.#spawn();
      await this.#waitUntilReady(asLongAsItWorks);
    } catch (error) {
      await this.stop();
      this.state = 'failed';
      if (!this.#hasRun) this.reason = messageOf(error);
      throw error;
    }
  }

  /** Signal, wait, kill the group. Also for a process that is starting or suspended. */
  async stop(): Promise<void> {
    const pid = this.#child?.pid;
    if (pid === undefined) {
      this.state = 'stopped';
      return;
    }
    this.state = 'stopping';
    sendSignal(pid, this.description.stopSignal);
    // A suspended process must run to receive it.
    sendSignal(pid, 'SIGCONT');
    const timer = setTimeout(() => sendSignal(-pid, 'SIGKILL'), this.description.stopTimeoutMs);
    await this.#ended;
    clearTimeout(timer);
    this.state = 'stopped';
  }

  /** Sends a signal to it and its group. @returns whether it was running. */
  signal(signal: NodeJS.Signals): boolean {
    const pid = this.#child?.pid;
    return pid !== undefined && sendSignal(-pid, signal);
  }

  status(): ProcessStatus {
    const pid = this.#child?.pid;
    const usage = pid === undefined ? { rssBytes: 0, cpuSeconds: 0 } : usageOf(pid);
    const { name, state, restarts, reason } = this;
    const waitsFor = state === 'waiting' ? this.#waitsFor : [];
    return { name, pid, state, waitsFor, reason, restarts, ...usage };
  }

  /** A stop may come while it is being prepared; it must not start after that. */
  #requireStarting(): void {
    if (!this.#isStarting()) throw this.#failed('was stopped while it started');
  }

  #spawn(): void {
    const { command, args, cwd, env, niceness, logFile, watchesStdin } = this.description;
    const { log, bytes } = openLog(logFile);
    this.#hasRun = true;
    try {
      // Detached: a group of its own, which a terminal's Ctrl-C does not reach and which can be
      // killed as a whole.
      const child = spawn(command, [...args], {
        cwd,
        env: { ...env },
        detached: true,
        stdio: [watchesStdin ? 'pipe' : 'ignore', log, log],
      });
      this.#child = child;
      if (niceness !== undefined && child.pid !== undefined) lowerPriority(child.pid, niceness);
      child.stdin?.on('error', () => undefined);
      this.#ended = new Promise((resolve) => {
        child.once('error', (error) => resolve(this.#onEnd(child, messageOf(error))));
        child.once('exit', (code, signal) => {
          this.#exitCode = code;
          const output = textAfter(logFile, bytes, outputMaxBytes);
          const reason = reasonOfEnd({ code, signal, output }, this.description.heap);
          resolve(this.#onEnd(child, reason));
        });
      });
      this.#record(child);
    } finally {
      closeSync(log);
    }
  }

  #record({ pid }: ChildProcess): void {
    const startMark = pid === undefined ? undefined : startMarkOf(pid);
    if (pid === undefined || startMark === undefined) return;
    // The last argument names the process best: a jar, a configuration file, a port.
    const command = this.description.args.at(-1) ?? this.description.command;
    this.#ledger.add({ name: this.name, pid, startMark, command, supervisorPid: process.pid });
  }

  #onEnd(child: ChildProcess, reason: string): string {
    this.#child = undefined;
    if (child.pid !== undefined) {
      // Its own child processes end with it.
      if (isAlive(-child.pid)) sendSignal(-child.pid, 'SIGKILL');
      this.#ledger.remove(child.pid);
    }
    if (this.state === 'ready') {
      this.state = 'died';
      this.reason = `died (${reason})`;
      this.#onDeath(this, reason);
    }
    return reason;
  }

  async #waitUntilReady(asLongAsItWorks: boolean): Promise<void> {
    const limit = new StartLimit(this.description.readyTimeoutMs, performance.now());
    while (this.#child !== undefined && this.#isStarting()) {
      try {
        await this.description.ready();
        if (this.#child === undefined || !this.#isStarting()) break;
        this.state = 'ready';
        this.isLate = false;
        this.reason = '';
        this.readySinceMs = performance.now();
        return;
      } catch (error) {
        const nowMs = performance.now();
        // A wait for engines has no end of its own.
        if (this.#noteWait(error)) limit.begin(nowMs, this.status().cpuSeconds);
        else if (limit.isOver(nowMs)) this.#failIfIdle(limit, asLongAsItWorks, error);
      }
      await sleep(this.state === 'waiting' ? waitingPollMs : readyPollMs);
    }
    this.#requireStarting();
    throw this.#failed(`ended while it started (${await this.#ended})`);
  }

  /** @throws StackError when its time is over; with `asLongAsItWorks` only if it does not. */
  #failIfIdle(limit: StartLimit, asLongAsItWorks: boolean, error: unknown): void {
    const nowMs = performance.now();
    const what = `was not ready within ${limit.seconds} s (${messageOf(error)})`;
    const goesOn = asLongAsItWorks && limit.extend(nowMs, this.status().cpuSeconds);
    if (!goesOn) throw this.#failed(what);
    this.isLate = true;
    this.reason = `${what}, and is working`;
  }

  #isStarting(): boolean {
    return this.state === 'starting' || this.state === 'waiting';
  }

  /** Whether it is not ready because it waits for engines. */
  #noteWait(error: unknown): boolean {
    const isWaiting = error instanceof WaitsForEngines;
    if (this.#isStarting()) this.state = isWaiting ? 'waiting' : 'starting';
    if (isWaiting) this.#waitsFor = error.engines;
    if (isWaiting && this.isLate) this.reason = '';
    return isWaiting;
  }

  #failed(what: string): StackError {
    const { logFile } = this.description;
    this.reason = what;
    return new StackError(
      'START_FAILED',
      `${this.name} ${what}. The end of ${logFile}:\n${tailOf(logFile)}`,
    );
  }
}
