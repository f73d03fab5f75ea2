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
  Patience,
  persist,
  type Repeatable,
  type RetryPolicy,
} from './retry.ts';

/** One request that goes out, the first try or a later one. */
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
  /** Is called before each try, for those who count. */
  readonly onAttempt?: (attempt: Attempt) => void;
}

const defaultConcurrency = 32;
/** Requests of one kind that may wait for their turn. */
const waitingMax = 1_000;

/** What a request needs besides itself. */
export interface Sending {
  /** Default `always`. */
  readonly repeatable?: Repeatable;
  readonly patience?: Patience;
  /** Default 1: what was tried before. */
  readonly tries?: number;
  /** Of one try, when it is not the default of the client. */
  readonly timeoutMs?: number;
}

/** Sends signed and unsigned requests, patiently, a few at a time. */
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

  useKey(key: KeyOfWallet): void {
    this.#key = key;
  }

  patience(): Patience {
    return new Patience(this.#options.retry ?? defaultRetryPolicy);
  }

  /** A request as it is, sent until it has an answer. */
  send<T>(sent: HttpRequest, sending: Sending = {}): Promise<T> {
    return this.#persist(() => sent, sending);
  }

  /** The same with the headers of the API key, signed anew for each try. */
  signed<T>(sent: HttpRequest, sending: Sending = {}): Promise<T> {
    return this.#persist(() => this.sign(sent), sending);
  }

  /** One signed try. */
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
    const { repeatable = 'always', patience = this.patience(), ...rest } = sending;
    return persist(patience, repeatable, (tries) => this.#attempt<T>(make(), { ...rest, tries }));
  }

  #attempt<T>(sent: HttpRequest, { tries = 1, timeoutMs }: Sending): Promise<T> {
    const gate = isReserved(sent) ? this.#reservedGate : this.#gate;
    return gate.pass(() => {
      this.#options.onAttempt?.({ method: sent.method, path: sent.path, tries });
      return request<T>({ ...this.#options, ...(timeoutMs && { timeoutMs }) }, sent);
    });
  }
}

/** Cancels and heartbeats: nobody may be late with them because he trades or reads much. */
function isReserved({ method, path }: HttpRequest): boolean {
  const isCancel = method === 'DELETE' && /^\/(orders?|cancel-(all|market-orders))$/.test(path);
  return isCancel || path.endsWith('/heartbeats');
}
