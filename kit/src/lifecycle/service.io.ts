import { setTimeout as pause } from 'node:timers/promises';
import { Fault, reactionTo } from '../fault/index.ts';
import { type OpsListener, openOpsListener } from '../health/index.ts';
import { type Log, openLog } from '../log/index.ts';
import type { Metrics } from '../metrics/index.ts';
import { type EngineWaitOptions, waitForEngines } from './engine-wait.io.ts';
import { exitCodes } from './exit-codes.ts';
import { type ProcessHost, processHost } from './host.io.ts';
import { Operations } from './operations.io.ts';
import { runSpread } from './spread.io.ts';

/** Time limits of a stop, milliseconds: one closer, and all of them; both besides the time over which clients leave. */
const closerTimeoutMs = 5_000;
const stopTimeoutMs = 10_000;

interface OperationsOptions {
  readonly opsHost: string;
  /** TCP port; 0 chooses a free one. */
  readonly opsPort: number;
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  /** `PM_DRAIN_MS`; absent where no balancer sends requests. */
  readonly drainMs?: number;
}

/** The argument of a service's `start`. */
export interface Lifecycle {
  /** Aborted when the service begins to close. */
  readonly signal: AbortSignal;
  /** From here on the lifecycle logs through this log: first a warning if there are links of Kubernetes Services. */
  useLog(log: Log): void;
  /**
   * Registers a closer; at the stop the last registered runs first. Each gets `timeoutMs` (default 5 s) besides
   * the time that clients have to leave, then the next one runs. Registered while stopping, it runs at once.
   */
  onStop(name: string, close: () => void | Promise<void>, timeoutMs?: number): void;
  /**
   * Opens the operations port: first of all, so that a long start can be watched. Throws a `Fault`
   * `ops_port_unavailable` (stop).
   */
  operations(options: OperationsOptions): Promise<Operations>;
  /**
   * For closers: runs what ends the connections of clients, spread over the time that they have to leave; all at once
   * when there is none, and after a second signal.
   */
  letLeave(ends: readonly (() => void)[]): Promise<void>;
  /** Engines that this service cannot work without, and where it reports that it waits for them. */
  needs(engines: EngineWaitOptions): void;
  /**
   * Logs the error, closes everything and ends the process with code 1. After a fault that passes (`retry`), the
   * process waits until the engines that it needs work, and ends with code 75: it is to be started again.
   */
  fail(error: unknown): void;
}

interface Closer {
  readonly name: string;
  readonly close: () => void | Promise<void>;
  readonly timeoutMs: number;
}

/**
 * Runs a service from its `main.ts`: calls `start`, logs "ready", and ends the process on request (SIGTERM,
 * SIGINT, or the parent's pipe with `PM_PARENT_PIPE=1`) or at a fault, after closing in reverse order, within 10 s;
 * while an engine is away it waits before. Exit codes: `exitCodes`. Resolves when the service is ready or has begun to
 * stop.
 *
 *   starting --> running -- signal --> draining, for `drainMs` --> stopping --> exit
 *       \____________\______ fault, parent gone, or no drain _______/
 *
 * A draining service works as ever, but for what `Operations` say, so that balancers take it out before it refuses a
 * connection. A second signal ends the drain.
 */
export async function runService(
  name: string,
  start: (life: Lifecycle) => Promise<void>,
  host: ProcessHost = processHost,
): Promise<void> {
  const service = new Service(name, host);
  host.onUncaught((error) => service.fail(error));
  host.onSignal((signal) => service.signaled(signal));
  host.onParentGone(() => service.stop(exitCodes.asked, 'parent gone'));
  try {
    await start(service);
  } catch (error) {
    service.fail(error);
    return;
  }
  service.started();
}

class Service implements Lifecycle {
  readonly #abort = new AbortController();
  readonly #closers: Closer[] = [];
  readonly #host: ProcessHost;
  #log: Log;
  #engines: EngineWaitOptions | null = null;
  readonly #operations = new Operations();
  #drainMs = 0;
  #phase: 'starting' | 'running' | 'draining' | 'stopping' = 'starting';
  /** How long clients have to leave while it stops, milliseconds. */
  #leaveMs = 0;
  /** Ends the wait for engines. */
  readonly #asked = new AbortController();
  /** Ends the drain, and the time that clients have to leave. */
  readonly #hurried = new AbortController();

  constructor(name: string, host: ProcessHost) {
    this.#host = host;
    this.#log = openLog(name, 'info');
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  useLog(log: Log): void {
    this.#log = log;
    const variables = this.#host.serviceLinks();
    if (variables.length > 0)
      log.warn({ variables }, 'links of Kubernetes Services are left alone');
  }

  onStop(name: string, close: () => void | Promise<void>, timeoutMs = closerTimeoutMs): void {
    const closer = { name, close, timeoutMs };
    if (this.#isStopping) void this.#run(closer);
    else this.#closers.push(closer);
  }

  async operations({ opsHost, opsPort, metrics, drainMs = 0 }: OperationsOptions) {
    const at = { host: opsHost, port: opsPort, metrics };
    const listener: OpsListener = await openOpsListener({ ...at, health: this.#operations });
    this.onStop('operations listener', () => listener.close());
    this.#log.info({ opsPort: listener.port }, 'operations listener');
    this.#drainMs = drainMs;
    return this.#operations;
  }

  letLeave(ends: readonly (() => void)[]): Promise<void> {
    return runSpread(ends, { overMs: this.#leaveMs, signal: this.#hurried.signal });
  }

  needs(engines: EngineWaitOptions): void {
    this.#engines = engines;
  }

  started(): void {
    if (this.#phase !== 'starting') return;
    this.#phase = 'running';
    this.#log.info({}, 'ready');
  }

  /** The first signal begins the drain, a second one ends it; the process ends when all is closed. */
  signaled(signal: string): void {
    this.#asked.abort();
    if (this.#phase === 'running' && this.#drainMs > 0) {
      void this.#drain(signal);
      return;
    }
    this.#hurried.abort();
    if (this.#phase !== 'draining') this.stop(exitCodes.asked, signal);
  }

  async #drain(signal: string): Promise<void> {
    this.#phase = 'draining';
    this.#operations.drain();
    this.#log.info({ reason: signal, drainMs: this.#drainMs }, 'draining');
    await pause(this.#drainMs, undefined, { signal: this.#hurried.signal }).catch(() => {});
    if (!this.#isStopping && !this.#hurried.signal.aborted) this.#leaveMs = this.#drainMs;
    this.stop(exitCodes.asked, signal);
  }

  get #isStopping(): boolean {
    return this.#phase === 'stopping';
  }

  fail(error: unknown): void {
    if (this.#isStopping) {
      // Half-closed parts fail; the first reason counts. Clients that are still here have nothing to wait for.
      this.#log.warn({ err: error }, 'failed while stopping');
      this.#hurried.abort();
      return;
    }
    if (error instanceof Fault && error.code === 'invalid_config') {
      this.#complainAbout(error);
      this.stop(exitCodes.invalidConfig, error.code);
      return;
    }
    this.#log.error({ err: error, ...factsOf(error) }, 'stopping after a fault');
    const passes = reactionTo(error) === 'retry';
    this.stop(passes ? exitCodes.engineAway : exitCodes.fault, passes ? 'engine away' : 'fault');
  }

  /** Closes and ends the process. Only the first call counts: Ctrl-C reaches a process and its parent at once. */
  stop(exitCode: number, reason: string): void {
    if (exitCode === exitCodes.asked) this.#asked.abort();
    if (this.#isStopping) {
      this.#hurried.abort();
      return;
    }
    this.#phase = 'stopping';
    this.#operations.drain();
    this.#log.info({ reason }, 'stopping');
    this.#abort.abort();
    if (this.#leaveMs === 0) this.#hurried.abort();
    const timeoutMs = stopTimeoutMs + this.#leaveMs;
    const overdue = setTimeout(() => {
      this.#log.error({ timeoutMs }, 'did not stop in time');
      this.#host.exit(exitCode === exitCodes.asked ? exitCodes.fault : exitCode);
    }, timeoutMs);
    void this.#closeAll().then(async () => {
      clearTimeout(overdue);
      const code = exitCode === exitCodes.engineAway ? await this.#waitForEngines() : exitCode;
      this.#log.info({ reason }, 'stopped');
      this.#host.exit(code);
    });
  }

  /** The exit code after the wait. Never rejects: whoever starts this process again waits as well. */
  async #waitForEngines(): Promise<number> {
    const { signal } = this.#asked;
    if (signal.aborted) return exitCodes.asked;
    try {
      if (this.#engines !== null) await waitForEngines(this.#engines, { log: this.#log, signal });
    } catch (error) {
      this.#log.warn({ err: error }, 'could not wait for engines');
    }
    return signal.aborted ? exitCodes.asked : exitCodes.engineAway;
  }

  async #closeAll(): Promise<void> {
    for (let closer = this.#closers.pop(); closer !== undefined; closer = this.#closers.pop()) {
      await this.#run(closer);
    }
  }

  /** Never rejects: a failing closer must not keep the rest open. */
  async #run({ name, close, ...limit }: Closer): Promise<void> {
    const timeoutMs = limit.timeoutMs + this.#leaveMs;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Fault('close_timeout', 'stop')), timeoutMs);
    });
    try {
      await Promise.race([(async () => await close())(), late]);
    } catch (error) {
      this.#log.warn({ closer: name, timeoutMs, err: error }, 'did not close cleanly');
    } finally {
      clearTimeout(timer);
    }
  }

  #complainAbout(fault: Fault): void {
    this.#host.complain('The configuration is invalid:');
    for (const [variable, problem] of Object.entries(fault.facts)) {
      this.#host.complain(`  ${variable}: ${problem}`);
    }
  }
}

function factsOf(error: unknown): Record<string, unknown> {
  return error instanceof Fault ? { code: error.code, ...error.facts } : {};
}
