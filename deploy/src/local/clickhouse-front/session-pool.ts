import { frontError } from './engine-error.ts';
import { EngineSession, type Role } from './engine-session.ts';
import { type JudgedQuery, JudgedStatements } from './judged-statements.ts';

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

/** A place in the pool: one query at a time, with a session per role opened when first needed. */
interface Slot {
  readonly sessions: Map<Role, EngineSession>;
}

/** Parts of a pool that its leases use. */
interface PoolParts {
  readonly options: PoolOptions;
  readonly slots: readonly Slot[];
  readonly statements: JudgedStatements;
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
  readonly #slots: readonly Slot[];
  readonly #idle: Slot[];
  readonly #statements: JudgedStatements;
  readonly #waiting: Waiter[] = [];
  #busy = 0;
  #closed = false;
  #whenIdle: (() => void) | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.sessions }, () => ({ sessions: new Map() }));
    this.#idle = [...this.#slots];
    this.#statements = new JudgedStatements(() => EngineSession.open(options.dataDir, 'reader'));
  }

  /** @throws EngineError 202 when too many wait already or the wait was too long. */
  async use<T>(role: Role, work: (lease: SessionLease) => Promise<T>): Promise<T> {
    const slot = await this.#acquire();
    const parts = { options: this.#options, slots: this.#slots, statements: this.#statements };
    const lease = new SessionLease(slot, role, parts);
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
    await this.#statements.close();
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
  readonly #pool: PoolParts;

  constructor(slot: Slot, role: Role, pool: PoolParts) {
    this.#sessions = slot.sessions;
    this.#role = role;
    this.#pool = pool;
  }

  /** @throws EngineError for what this role may not ask. */
  requirePermitted(query: JudgedQuery): Promise<void> {
    return this.#pool.statements.require(this.#role, query);
  }

  get defaultDatabase(): string {
    return this.#pool.options.database;
  }

  async session(): Promise<EngineSession> {
    const known = this.#sessions.get(this.#role);
    if (known !== undefined) return known;
    const opened = await EngineSession.open(this.#pool.options.dataDir, this.#role);
    this.#sessions.set(this.#role, opened);
    return opened;
  }

  /** A session that no query has used. */
  freshSession(): Promise<EngineSession> {
    this.#discard();
    return this.session();
  }

  /** Every session of the pool enters its database once more, as each request to a server does. */
  leaveDatabases(): void {
    for (const { sessions } of this.#pool.slots)
      for (const session of sessions.values()) session.database = '';
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
