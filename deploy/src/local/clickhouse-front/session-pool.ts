import { Session } from 'chdb';
import { frontError } from './engine-error.ts';

/**
 * Rights of a caller: `reader` runs with `readonly = 2`, so it may change settings and nothing else.
 */
export type Role = 'writer' | 'reader';

export interface PoolOptions {
  /** The engine's data folder; one process at a time. */
  readonly dataDir: string;
  /** Database of a request that names none. */
  readonly database: string;
  /** Queries that run at the same time; one session runs one after the other. */
  readonly sessions: number;
  /** Queries that may wait for a session; one more is refused. */
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

/** A result of the embedded engine. */
export interface EngineResult {
  readonly bytes: Uint8Array;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly elapsedSeconds: number;
}

/** One session of the embedded engine and the state that earlier queries left in it. */
export class EngineSession {
  /** Empty before the first query: a session may be opened while no database has the default name. */
  database = '';
  /** Parameters once set: they can be replaced, never unset. */
  readonly parameters = new Set<string>();
  /** Settings of the query before, still in force: the next one changes those that differ. */
  settings: ReadonlyMap<string, string> = new Map();
  /** It has state that cannot be reset: close it instead of using it again. */
  spoiled = false;
  readonly #session: Session;

  private constructor(session: Session) {
    this.#session = session;
  }

  static async open(dataDir: string, role: Role): Promise<EngineSession> {
    const session = new EngineSession(new Session(dataDir));
    if (role === 'reader') await session.run('SET readonly = 2');
    return session;
  }

  async run(sql: string, format = 'TabSeparated'): Promise<EngineResult> {
    const result = await this.#session.queryAsync(sql, { format });
    return {
      bytes: result.bytes(),
      rowsRead: result.rowsRead,
      bytesRead: result.bytesRead,
      elapsedSeconds: result.elapsed,
    };
  }

  close(): void {
    this.#session.close();
  }
}

/** A name as an identifier that cannot end early. */
export function quoteName(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
}

/** A place in the pool: one query at a time, with a session per role opened when first needed. */
interface Slot {
  readonly sessions: Map<Role, EngineSession>;
}

interface Waiter {
  readonly take: (slot: Slot) => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Lends sessions, a few at a time. A session is used by one query at a time, and a spoiled one is not lent again.
 */
export class SessionPool {
  readonly #options: PoolOptions;
  readonly #idle: Slot[];
  readonly #waiting: Waiter[] = [];
  #busy = 0;
  #closed = false;
  #whenIdle: (() => void) | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#idle = Array.from({ length: options.sessions }, () => ({ sessions: new Map() }));
  }

  /** @throws EngineError 202 when too many wait already or the wait was too long. */
  async use<T>(role: Role, work: (lease: SessionLease) => Promise<T>): Promise<T> {
    const slot = await this.#acquire();
    const lease = new SessionLease(slot.sessions, role, this.#options);
    try {
      return await work(lease);
    } finally {
      lease.end();
      this.#release(slot);
    }
  }

  /** Refuses waiting queries, waits for running ones, and closes all sessions. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.refuse(shuttingDown());
    if (this.#busy > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    for (const slot of this.#idle) for (const session of slot.sessions.values()) session.close();
  }

  #acquire(): Promise<Slot> {
    if (this.#closed) return Promise.reject(shuttingDown());
    const slot = this.#idle.pop();
    if (slot !== undefined) {
      this.#busy += 1;
      return Promise.resolve(slot);
    }
    if (this.#waiting.length >= this.#options.maxWaiting) {
      return Promise.reject(tooMany(`Too many simultaneous queries. Maximum: ${this.#limit()}.`));
    }
    return this.#wait();
  }

  #wait(): Promise<Slot> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(tooMany(`No session became free within ${this.#options.maxWaitMs} ms.`));
      }, this.#options.maxWaitMs);
      const settled = (): void => clearTimeout(timer);
      const waiter: Waiter = {
        take: (slot) => {
          settled();
          resolve(slot);
        },
        refuse: (error) => {
          settled();
          reject(error);
        },
      };
      this.#waiting.push(waiter);
    });
  }

  #limit(): number {
    return this.#options.sessions + this.#options.maxWaiting;
  }

  #release(slot: Slot): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next.take(slot);
      return;
    }
    this.#idle.push(slot);
    this.#busy -= 1;
    if (this.#busy === 0) this.#whenIdle?.();
  }
}

/** The right to use one place of the pool during one query. */
export class SessionLease {
  readonly #sessions: Map<Role, EngineSession>;
  readonly #role: Role;
  readonly #options: PoolOptions;

  constructor(sessions: Map<Role, EngineSession>, role: Role, options: PoolOptions) {
    this.#sessions = sessions;
    this.#role = role;
    this.#options = options;
  }

  get defaultDatabase(): string {
    return this.#options.database;
  }

  async session(): Promise<EngineSession> {
    const known = this.#sessions.get(this.#role);
    if (known !== undefined) return known;
    const opened = await EngineSession.open(this.#options.dataDir, this.#role);
    this.#sessions.set(this.#role, opened);
    return opened;
  }

  /** A session that no query has used. */
  freshSession(): Promise<EngineSession> {
    this.#discard();
    return this.session();
  }

  end(): void {
    if (this.#sessions.get(this.#role)?.spoiled === true) this.#discard();
  }

  #discard(): void {
    this.#sessions.get(this.#role)?.close();
    this.#sessions.delete(this.#role);
  }
}

function tooMany(reason: string): Error {
  return frontError('TOO_MANY_SIMULTANEOUS_QUERIES', reason);
}

function shuttingDown(): Error {
  return tooMany('The server is shutting down.');
}
