import { headers as names } from '@pm/schemas';
import { Gate } from './gate.ts';
import {
  type HttpOptions,
  type HttpRequest,
  type KeyOfWallet,
  l2Headers,
  type Query,
  request,
} from './http.ts';
import {
  defaultRetryPolicy,
  persist,
  type Repeatable,
  RetryBudget,
  type RetryPolicy,
} from './retry.ts';

/** One attempt of a request, the first or a later one. */
export interface Attempt {
  readonly method: string;
  readonly path: string;
  /** 1 for the first. */
  readonly tries: number;
}

export interface ConnectionOptions extends HttpOptions {
  /** Default: 30 s in all, pauses of 0.1 to 2 s. `noRetries` sends everything once. */
  readonly retry?: RetryPolicy;
  /** Requests at a time, default 32; cancels and heartbeats have as many of their own and wait for nothing else. */
  readonly concurrency?: number;
  /** A read-only key opens the private reads of its wallet without `connect()`. */
  readonly reader?: { readonly address: string; readonly readOnlyKey: string };
  /** Sent with every request that is not signed: an agent key, or the caller that a trusted proxy names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called before each attempt. */
  readonly onAttempt?: (attempt: Attempt) => void;
}

const defaultConcurrency = 32;
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
}

/** Sends signed and unsigned requests with retries, a few at a time. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #gate: Gate;
  readonly #reservedGate: Gate;
  #key: KeyOfWallet | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const limits = { concurrent: options.concurrency ?? defaultConcurrency, waiting: waitingMax };
    this.#gate = new Gate(limits);
    this.#reservedGate = new Gate(limits);
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

  retryBudget(): RetryBudget {
    return new RetryBudget(this.retryPolicy);
  }

  /** Sends a request until it has a definite response. */
  send<T>(sent: HttpRequest, sending: Sending = {}): Promise<T> {
    const headers = { ...this.#options.headers, ...sent.headers };
    return this.#persist(() => ({ ...sent, headers }), sending);
  }

  /** The same with the headers of the API key, signed again for each attempt. */
  signed<T>(sent: HttpRequest, sending: Sending = {}): Promise<T> {
    return this.#persist(() => this.sign(sent), sending);
  }

  /** One signed attempt. */
  signedOnce<T>(sent: HttpRequest, { tries = 1, timeoutMs }: Sending = {}): Promise<T> {
    return this.#attempt(this.sign(sent), { tries, ...(timeoutMs && { timeoutMs }) });
  }

  read<T>(path: string, query: Query = {}): Promise<T> {
    return this.send<T>({ method: 'GET', path, query });
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
    return { ...sent, headers: { ...sent.headers, ...l2Headers(this.key, sent, Date.now()) } };
  }

  #persist<T>(make: () => HttpRequest, sending: Sending): Promise<T> {
    const { repeatable = 'always', retryBudget = this.retryBudget(), ...rest } = sending;
    return persist(retryBudget, repeatable, (tries) =>
      this.#attempt<T>(make(), { ...rest, tries }),
    );
  }

  #attempt<T>(sent: HttpRequest, { tries = 1, timeoutMs }: Sending): Promise<T> {
    const gate = isReserved(sent) ? this.#reservedGate : this.#gate;
    return gate.pass(() => {
      this.#options.onAttempt?.({ method: sent.method, path: sent.path, tries });
      return request<T>({ ...this.#options, ...(timeoutMs && { timeoutMs }) }, sent);
    });
  }
}

/** Cancels and heartbeats: trading and reading must not delay them. */
function isReserved({ method, path }: HttpRequest): boolean {
  const isCancel = method === 'DELETE' && /^\/(orders?|cancel-(all|market-orders))$/.test(path);
  return isCancel || path.endsWith('/heartbeats');
}
