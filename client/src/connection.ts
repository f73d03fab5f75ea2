import { headers as names } from '@pm/schemas/signing';
import { ExchangeError, isPassing, isSkew } from './errors.ts';
import { Gate } from './gate.ts';
import {
  defaultTimeoutMs,
  type HttpOptions,
  type HttpRequest,
  type KeyOfWallet,
  l2Headers,
  type Query,
  type ResponseHead,
  request,
} from './http.ts';
import { OpenPlacements } from './open-placements.ts';
import { callGuarded } from './platform.ts';
import {
  defaultRetryPolicy,
  isRepeatable,
  persist,
  type Repeatable,
  RetryBudget,
  type RetryPolicy,
} from './retry.ts';
import { ServerClock } from './server-clock.ts';

/** One attempt of a request, the first or a later one. */
export interface Attempt {
  readonly method: string;
  readonly path: string;
  /** 1 for the first. */
  readonly tries: number;
  /** Body of the request, which names its orders. */
  readonly body?: unknown;
}

/** The response to an attempt, whatever its status. */
export interface AttemptResponse extends Attempt {
  readonly status: number;
  /**
   * By names in lower case: `server-timing`, `ratelimit-remaining`, `x-behind`, `x-revocation-pending` and others
   * (conventions.md). A page of another origin sees those that the exchange exposes to it.
   */
  readonly headers: Readonly<Record<string, string>>;
}

export interface ConnectionOptions extends HttpOptions {
  /** Default: 30 s in all, pauses of 0.1 to 2 s. `noRetries` sends everything once. */
  readonly retry?: RetryPolicy;
  /** Retry budget of calls that place orders: a quote must not be sent for as long as a cancel. Default `retry`. */
  readonly retryPlacing?: RetryPolicy;
  /** Retry budget of cancels; default `retry`. */
  readonly retryCanceling?: RetryPolicy;
  /** Requests at a time, default 32. Cancels have as many of their own, and heartbeats some: no others delay them. */
  readonly concurrency?: number;
  /** A read-only key opens the private reads of its wallet without `connect()`. */
  readonly reader?: { readonly address: string; readonly readOnlyKey: string };
  /** Sent with every request that is not signed: an agent key, or the caller that a trusted proxy names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called before each attempt. */
  readonly onAttempt?: (attempt: Attempt) => void;
  /** Called with each response, before the call goes on; its error is an unhandled rejection and ends no call. */
  readonly onResponse?: (response: AttemptResponse) => void;
}

/** Calls with a retry budget of their own. */
export type Budgeted = 'placing' | 'canceling';

const defaultConcurrency = 32;
/** Heartbeats at a time; a loop sends one. */
const heartbeatConcurrency = 8;
/** Requests of one kind that may wait. */
const waitingMax = 1_000;

/** Options of sending a request. */
export interface Sending {
  /** Default `always`. */
  readonly repeatable?: Repeatable;
  readonly retryBudget?: RetryBudget;
  /** Number of the first attempt; default 1. */
  readonly tries?: number;
  /** Timeout of one attempt, when it is not the default of the client. */
  readonly timeoutMs?: number;
  /** Default false. A response, too, is waited for no longer than the retry budget. */
  readonly endsWithBudget?: boolean;
  /** Ends the wait for its turn; a request that was sent is not ended. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the request is about to leave. */
  readonly onSend?: () => void;
  /** Called with the failure of each attempt. */
  readonly onFailure?: (error: ExchangeError) => void;
}

/** Sends signed and unsigned requests with retries, a few at a time. */
export class Connection {
  readonly #options: ConnectionOptions;
  /** Calls that place orders. */
  readonly placements = new OpenPlacements();
  readonly #gates: Readonly<Record<Lane, Gate>>;
  #key: KeyOfWallet | null = null;
  /** The time of the exchange minus that of the wall clock here, as far as it is known. */
  #clockOffsetMs = 0;
  readonly #serverClock = new ServerClock();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const limits = { concurrent: options.concurrency ?? defaultConcurrency, waiting: waitingMax };
    const beats = { concurrent: heartbeatConcurrency, waiting: waitingMax };
    this.#gates = { plain: new Gate(limits), cancel: new Gate(limits), beat: new Gate(beats) };
  }

  get baseUrl(): string {
    return this.#options.baseUrl;
  }

  get key(): KeyOfWallet {
    if (this.#key === null) throw new TypeError('call connect() first');
    return this.#key;
  }

  get retryPolicy(): RetryPolicy {
    return this.#options.retry ?? defaultRetryPolicy;
  }

  useKey(key: KeyOfWallet): void {
    this.#key = key;
  }

  /** Retry budget of a call that begins now. */
  retryBudget(of?: Budgeted): RetryBudget {
    const { retryPlacing, retryCanceling } = this.#options;
    const own = { placing: retryPlacing, canceling: retryCanceling };
    const policy = of === undefined ? undefined : own[of];
    return new RetryBudget(policy ?? this.retryPolicy, this.timeoutMs);
  }

  /** Timeout of one attempt. */
  get timeoutMs(): number {
    return this.#options.timeoutMs ?? defaultTimeoutMs;
  }

  /** Unix milliseconds by the clock of the exchange, once a response has shown that the one here is wrong. */
  nowMs(): number {
    return Math.round(Date.now() + this.#clockOffsetMs);
  }

  /** Corrects the clock here where the newest response shows that it is off. */
  correctClock(): void {
    this.#setClock(this.#serverClock.nearestMs(this.nowMs(), performance.now()));
  }

  /** The latest time that it may be at the exchange, Unix milliseconds; null before its first response. */
  latestServerMs(): number | null {
    return this.#serverClock.latestMs(performance.now());
  }

  /** Sends a request until it has a definite response. */
  send<T>(sent: HttpRequest, sending: Sending = {}): Promise<T> {
    return this.#persist({ sent, make: () => this.#unsigned(sent) }, sending);
  }

  /** One attempt of the same. */
  sendOnce<T>(sent: HttpRequest, sending: Sending = {}): Promise<T> {
    return this.#attempt({ sent, make: () => this.#unsigned(sent) }, sending);
  }

  /**
   * Sends a request with the headers of the API key, signed again for each attempt, until it has a definite response.
   */
  signed<T>(sent: HttpRequest, sending: Sending = {}): Promise<T> {
    return this.#persist({ sent, make: () => this.sign(sent) }, sending);
  }

  /** One signed attempt. */
  signedOnce<T>(sent: HttpRequest, sending: Sending = {}): Promise<T> {
    return this.#attempt({ sent, make: () => this.sign(sent) }, sending);
  }

  read<T>(path: string, query: Query = {}, sending: Sending = {}): Promise<T> {
    return this.send<T>({ method: 'GET', path, query }, sending);
  }

  /** A private read: with the API key, or with a read-only key where there is no other. */
  readOwn<T>(path: string, query: Query = {}, sending: Sending = {}): Promise<T> {
    const sent: HttpRequest = { method: 'GET', path, query };
    const { reader } = this.#options;
    if (this.#key !== null || reader === undefined) return this.signed<T>(sent, sending);
    const headers = { [names.address]: reader.address, [names.readOnlyKey]: reader.readOnlyKey };
    return this.send<T>({ ...sent, headers }, sending);
  }

  sign(sent: HttpRequest): HttpRequest {
    return { ...sent, headers: { ...sent.headers, ...l2Headers(this.key, sent, this.nowMs()) } };
  }

  #unsigned(sent: HttpRequest): HttpRequest {
    return { ...sent, headers: { ...this.#options.headers, ...sent.headers } };
  }

  #persist<T>(made: Made, sending: Sending): Promise<T> {
    const { retryBudget = this.retryBudget(), repeatable = 'always' } = sending;
    const { onFailure = () => {} } = sending;
    const mayRepeat = (error: ExchangeError) => isPassing(error) && isRepeatable(error, repeatable);
    return persist(retryBudget, mayRepeat, async (tries) => {
      try {
        return await this.#attempt<T>(made, { ...sending, retryBudget, tries });
      } catch (error) {
        if (error instanceof ExchangeError) onFailure(error);
        throw error;
      }
    });
  }

  #attempt<T>({ sent, make }: Made, sending: Sending): Promise<T> {
    const { tries = 1, timeoutMs = this.timeoutMs, retryBudget, signal, onSend } = sending;
    const { endsWithBudget = false } = sending;
    const leftMs = retryBudget?.leftMs ?? timeoutMs;
    const action = (): Promise<T> => {
      // Made when its turn has come: a proof carries the time.
      const proven = make();
      const { method, path, body } = sent;
      const attempt: Attempt = { method, path, tries, ...(body === undefined ? {} : { body }) };
      callGuarded(() => this.#options.onAttempt?.(attempt));
      onSend?.();
      const leftAtLastMs = Math.max(1, retryBudget?.leftMs ?? timeoutMs);
      const mostMs = endsWithBudget ? Math.min(timeoutMs, leftAtLastMs) : timeoutMs;
      return this.#request<T>(proven, { attempt, timeoutMs: mostMs });
    };
    return this.#gates[laneOf(sent)].pass(action, { leftMs, signal });
  }

  async #request<T>(
    sent: HttpRequest,
    { attempt, timeoutMs }: { readonly attempt: Attempt; readonly timeoutMs: number },
  ): Promise<T> {
    const { onResponse } = this.#options;
    const onHead = (head: ResponseHead) => callGuarded(() => onResponse?.({ ...attempt, ...head }));
    try {
      return await request<T>({ ...this.#options, timeoutMs, onHead }, sent, this.#serverClock);
    } catch (error) {
      if (isSkew(error)) {
        const serverMs = (error.body as { server_time?: unknown } | null)?.server_time;
        if (typeof serverMs === 'number') this.#setClock(serverMs);
      }
      throw error;
    }
  }

  #setClock(serverMs: number): void {
    this.#clockOffsetMs = serverMs - Date.now();
  }
}

/** A request, and how an attempt of it is made. */
interface Made {
  readonly sent: HttpRequest;
  make(): HttpRequest;
}

/** Trading and reading must not delay cancels, and nothing at all heartbeats. */
type Lane = 'plain' | 'cancel' | 'beat';

function laneOf({ method, path }: HttpRequest): Lane {
  if (path.endsWith('/heartbeats')) return 'beat';
  const isCancel = method === 'DELETE' && /^\/(orders?|cancel-(all|market-orders))$/.test(path);
  return isCancel ? 'cancel' : 'plain';
}
