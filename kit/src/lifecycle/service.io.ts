import { Fault, reactionTo } from '../fault/index.ts';
import { type Log, openLog } from '../log/index.ts';
import { type EngineWaitOptions, waitForEngines } from './engine-wait.io.ts';
import { exitCodes } from './exit-codes.ts';
import { type ProcessHost, processHost } from './host.io.ts';

/** Time limits of a stop, milliseconds: one closer, and all of them. */
const closerTimeoutMs = 5_000;
const stopTimeoutMs = 10_000;

/** The argument of a service's `start`. */
export interface Lifecycle {
  /** Aborted when the service begins to stop. */
  readonly signal: AbortSignal;
  /** From here on the lifecycle logs through this log: first a warning if there are links of Kubernetes Services. */
  useLog(log: Log): void;
  /**
   * Registers a closer; at the stop the last registered runs first. Each gets `timeoutMs` (default 5 s), then
   * the next one runs. Registered while stopping, it runs at once.
   */
  onStop(name: string, close: () => void | Promise<void>, timeoutMs?: number): void;
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
 */
export async function runService(
  name: string,
  start: (life: Lifecycle) => Promise<void>,
  host: ProcessHost = processHost,
): Promise<void> {
  const service = new Service(name, host);
  host.onUncaught((error) => service.fail(error));
  host.onSignal((signal) => service.stop(exitCodes.asked, signal));
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
  #stopping = false;
  /** Ends the wait for engines. */
  readonly #asked = new AbortController();

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
    if (this.#stopping) void this.#run(closer);
    else this.#closers.push(closer);
  }

  needs(engines: EngineWaitOptions): void {
    this.#engines = engines;
  }

  started(): void {
    if (!this.#stopping) this.#log.info({}, 'ready');
  }

  fail(error: unknown): void {
    if (this.#stopping) {
      // Half-closed parts fail; the first reason counts.
      this.#log.warn({ err: error }, 'failed while stopping');
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
    if (this.#stopping) return;
    this.#stopping = true;
    this.#log.info({ reason }, 'stopping');
    this.#abort.abort();
    const overdue = setTimeout(() => {
      this.#log.error({ timeoutMs: stopTimeoutMs }, 'did not stop in time');
      this.#host.exit(exitCode === exitCodes.asked ? exitCodes.fault : exitCode);
    }, stopTimeoutMs);
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
  async #run({ name, close, timeoutMs }: Closer): Promise<void> {
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
