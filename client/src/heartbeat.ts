import type { HeartbeatResponse } from '@pm/schemas/http/sessions';
import type { Connection } from './connection.ts';
import { ExchangeError, isPassing } from './errors.ts';
import { callGuarded, sleep, surface } from './platform.ts';

export interface HeartbeatOptions {
  /** Default 5 s: two may be lost before orders are canceled, 10 to 15 s after the last one that was accepted. */
  readonly intervalMs?: number;
  /**
   * The session was missed: all orders of the key are being canceled, and placements of this client that wait to be
   * sent have ended, as by `cancelAll`. Heartbeats go on with a new session.
   */
  readonly onMiss?: () => void;
  /**
   * A beat failed; the next one follows within a second, unless `isOver`: then waiting does not help, and the loop has
   * ended. Without this callback such an end is an unhandled rejection.
   */
  readonly onError?: (error: unknown, isOver: boolean) => void;
}

const defaultIntervalMs = 5_000;
/** Pause after a failed beat. */
const againMs = 500;
/** Timeout of one beat: after it another attempt is better than waiting. */
const beatTimeoutMs = 3_000;

/**
 * The session of an API key, kept alive: beats, follows the chain of ids, and starts a new session after a miss. While
 * it runs, orders of the key stay open; when the process dies, they are canceled, unless another process or connection
 * sends heartbeats of the same key: one key for each process (sessions.md).
 */
export class Heartbeat {
  readonly #connection: Connection;
  readonly #options: HeartbeatOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  readonly #started: Promise<void>;
  #id = '';
  #beats = 0;
  /** Its start is waited for. */
  #isAwaited = false;

  constructor(connection: Connection, options: HeartbeatOptions = {}) {
    this.#connection = connection;
    this.#options = options;
    let running: Promise<void> | undefined;
    this.#started = new Promise((resolve, reject) => {
      running = this.#run(resolve, reject);
    });
    this.#started.catch(() => undefined);
    this.#running = running ?? Promise.resolve();
  }

  /** Resolves with the first accepted beat; from then on silence cancels. Rejects when the loop ended before it. */
  started(): Promise<void> {
    this.#isAwaited = true;
    return this.#started;
  }

  /** Accepted so far. */
  get beats(): number {
    return this.#beats;
  }

  /**
   * Beats no more, and resolves when no beat is under way. The session then ends by silence: orders that still rest are
   * canceled 10 to 15 seconds after the last beat. Orders that must go at once are canceled first.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(started: () => void, failed: (error: unknown) => void): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const startedAt = performance.now();
      let pauseMs = this.#options.intervalMs ?? defaultIntervalMs;
      try {
        await this.#beat();
        started();
      } catch (error) {
        const isOver = !isPassing(error);
        this.#report(error, isOver);
        if (isOver) return failed(error);
        pauseMs = againMs;
      }
      const leftMs = Math.max(0, pauseMs - (performance.now() - startedAt));
      await sleep(leftMs, signal);
    }
    failed(new Error('the heartbeat was stopped'));
  }

  #report(error: unknown, isOver: boolean): void {
    const { onError } = this.#options;
    if (onError !== undefined) callGuarded(() => onError(error, isOver));
    // Before the first beat it is that of `started()`.
    else if (isOver && (this.#beats > 0 || !this.#isAwaited)) surface(error);
  }

  async #beat(): Promise<void> {
    try {
      this.#id = await this.#send();
    } catch (error) {
      const expected = expectedId(error);
      if (expected === null) throw error;
      // An empty id means that there is no session; if this loop had one, it was missed.
      if (expected === '' && this.#id !== '') this.#miss();
      this.#id = expected;
      this.#id = await this.#send();
    }
    this.#beats += 1;
  }

  /** A quote from before the miss that still waits would come after the exchange has canceled all others. */
  #miss(): void {
    this.#connection.placements.end(() => true);
    callGuarded(() => this.#options.onMiss?.());
  }

  async #send(): Promise<string> {
    const answer = await this.#connection.signedOnce<HeartbeatResponse>(
      { method: 'POST', path: '/v1/heartbeats', body: { heartbeat_id: this.#id } },
      { timeoutMs: beatTimeoutMs },
    );
    return answer.heartbeat_id;
  }
}

/** The expected id in a 400: that of a beat whose response was lost, or empty after a miss. */
function expectedId(error: unknown): string | null {
  if (!(error instanceof ExchangeError) || error.status !== 400) return null;
  const id = (error.body as { heartbeat_id?: unknown } | null)?.heartbeat_id;
  return typeof id === 'string' ? id : null;
}
