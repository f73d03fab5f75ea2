import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { FollowedTopic, LogAdmin } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RedisClient } from '@pm/kit/redis';
import type { RedisKeys } from '@pm/schemas/redis/keys';

/** How often a process looks whether it has read more of the keys, milliseconds. */
const lookEveryMs = 20;
/** How often a process shows itself at least, milliseconds. */
const showEveryMs = 500;
/**
 * How long the others are waited for, milliseconds: a process that has not shown itself within this time is gone, and
 * admits no key.
 */
const passMaxMs = 2_000;

export interface KeyReadingsOptions {
  /** That of what is kept for a time. */
  readonly redis: Pick<RedisClient, 'hset' | 'hgetall' | 'hdel'>;
  readonly keys: Pick<RedisKeys, 'keyReaders'>;
  readonly admin: Pick<LogAdmin, 'bounds'>;
  /** The topics of keys, each of one partition. */
  readonly followed: readonly FollowedTopic[];
  /** Name of the service; that of the process is made of it. */
  readonly service: string;
  readonly log: Log;
  /** Longest wait for the other processes, milliseconds. */
  readonly waitMs?: number;
}

/**
 * Newest text that each process has published about its reading, by name of the process: "times position position
 * position".
 */
type Shown = ReadonlyMap<string, string>;

/**
 * How far each process that checks keys has read them, in Redis. A revocation is answered when all of them have passed
 * its record, so that no process admits a key whose revocation was answered.
 */
export class KeyReadings {
  readonly #options: KeyReadingsOptions;
  /** In an order that all processes have. */
  readonly #followed: readonly FollowedTopic[];
  /** Name of this process. */
  readonly name: string;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #times = 0;

  constructor(options: KeyReadingsOptions) {
    this.#options = options;
    this.#followed = [...options.followed].sort((one, other) => (one.topic < other.topic ? -1 : 1));
    this.name = `${options.service}-${randomBytes(3).toString('hex')}`;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    const { redis, keys } = this.#options;
    this.#closing.abort();
    await this.#running;
    await redis.hdel(keys.keyReaders, this.name).catch(() => undefined);
  }

  /**
   * Waits until every live process has read what is on the topics of keys at the call. Names those that have not within
   * the wait; null when that cannot be found out. Never rejects.
   */
  async behind(): Promise<readonly string[] | null> {
    const { redis, keys, waitMs = passMaxMs, log } = this.#options;
    try {
      const ends = await this.#ends();
      const first: Shown = new Map(Object.entries(await redis.hgetall(keys.keyReaders)));
      const untilMs = performance.now() + waitMs;
      let shown = first;
      while (performance.now() < untilMs) {
        if ([...shown.values()].every((text) => hasPassed(text, ends))) return [];
        await wait(lookEveryMs);
        shown = new Map(Object.entries(await redis.hgetall(keys.keyReaders)));
      }
      const late = [...shown].filter(([, text]) => !hasPassed(text, ends));
      const gone = late.filter(([name, text]) => first.get(name) === text).map(([name]) => name);
      if (gone.length > 0) await redis.hdel(keys.keyReaders, ...gone);
      return late.map(([name]) => name).filter((name) => !gone.includes(name));
    } catch (error) {
      log.warn({ err: error }, 'it is not known which processes have read a revocation');
      return null;
    }
  }

  async #ends(): Promise<readonly number[]> {
    const { admin } = this.#options;
    const bounds = await Promise.all(this.#followed.map(({ topic }) => admin.bounds(topic)));
    return bounds.map((of) => of.get(0)?.high ?? 0);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let [shown, shownMs] = ['', 0];
    while (!signal.aborted) {
      const positions = this.#positions();
      const nowMs = performance.now();
      if (positions !== shown || nowMs - shownMs >= showEveryMs) {
        [shown, shownMs] = [positions, nowMs];
        await this.#show(positions);
      }
      await wait(lookEveryMs, undefined, { signal }).catch(() => {});
    }
  }

  #positions(): string {
    return this.#followed.map(({ reader }) => reader.position(0)).join(' ');
  }

  async #show(positions: string): Promise<void> {
    const { redis, keys, log } = this.#options;
    this.#times += 1;
    await redis
      .hset(keys.keyReaders, this.name, `${this.#times} ${positions}`)
      .catch((err: unknown) => log.debug({ err }, 'how far keys are read is not shown'));
  }
}

function hasPassed(text: string, ends: readonly number[]): boolean {
  const [, ...positions] = text.split(' ').map(Number);
  return ends.every((end, at) => (positions[at] ?? 0) >= end);
}
