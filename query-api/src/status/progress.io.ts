import { setTimeout as wait } from 'node:timers/promises';
import {
  CompletenessMarks,
  completeThroughMs,
  type PartitionProgress,
  type Progress,
  type ProjectionProgress,
} from '@pm/domain/status/progress';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { Fault, within } from '@pm/kit/fault';
import type { LogAdmin } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RedisClient } from '@pm/kit/redis';
import type { RedisKeys } from '@pm/schemas/redis/keys';
import { tables } from '@pm/schemas/tables/tables';

export interface ProgressWatchOptions {
  readonly client: { admin(): Promise<Bounds> };
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly redis: Pick<RedisClient, 'hmget'>;
  readonly keys: ProgressKeys;
  /** Name of `executions` on the broker. */
  readonly topic: string;
  readonly log: Log;
  /** How old the reported progress may be, milliseconds, default 1 s; a projection has at least come so far. */
  readonly askEveryMs?: number;
  nowMs(): number;
}

type Bounds = Pick<LogAdmin, 'bounds' | 'close'>;
type ProgressKeys = Pick<
  RedisKeys,
  'bookMarks' | 'bookClockOf' | 'ledgerMarks' | 'ledgerMarkOf' | 'ledgerClockOf'
>;

const askEveryDefaultMs = 1_000;
/** A store that has not answered by then is away. */
const answerTimeoutMs = 2_000;

interface Row {
  readonly projection: string;
  readonly partition: number;
  readonly offset: string;
  readonly momentMs: string;
}

const completenessSql = `
SELECT projection, partition, toString(through_offset) AS offset,
  toString(toUnixTimestamp64Milli(through)) AS momentMs
FROM ${tables.completeness.name} FINAL
ORDER BY projection, partition
SETTINGS max_execution_time = 5, max_threads = 1`;

/**
 * Reads in rounds how far the stores are, so that a request pays nothing for it. The reported progress was true before
 * the request came: a projection never shows less than that.
 */
export class ProgressWatch {
  readonly #parts: ProgressWatchOptions;
  readonly #closing = new AbortController();
  #admin: Bounds | null = null;
  #progress: Progress = { ends: new Map(), projections: [] };
  readonly #known = new CompletenessMarks();
  /** Next offset of each partition by the tables. */
  #stored: ReadonlyMap<number, number> = new Map();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: ProgressWatchOptions) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#admin?.close();
  }

  /** The progress that was read last. */
  progress(): Progress {
    return this.#progress;
  }

  /** Through which moment the tables are complete, Unix milliseconds; null while that is not known. */
  completeThroughMs(): number | null {
    return this.#known.newest();
  }

  /**
   * Offset of the first record of a partition that the tables may lack; null while that is not known. It belongs to
   * `completeThroughMs`: while it is the same, what was read from the tables is still complete through that moment.
   */
  storedOffset(partition: number): number | null {
    return this.#stored.get(partition) ?? null;
  }

  /** Moment through which tables read at `readAtMs` were complete, Unix milliseconds; null while it is not known. */
  completeThroughAtMs(readAtMs: number): number | null {
    // It was read before the clock was set back: no mark of since then is about it.
    return readAtMs > this.#parts.nowMs() ? null : this.#known.at(readAtMs);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#poll();
      await wait(this.#parts.askEveryMs ?? askEveryDefaultMs, undefined, { signal }).catch(
        () => {},
      );
    }
  }

  async #poll(): Promise<void> {
    const { client, topic, log, keys } = this.#parts;
    try {
      this.#admin ??= await client.admin();
      const bounds = await this.#admin.bounds(topic);
      const ends = new Map([...bounds].map(([partition, { high }]) => [partition, high]));
      const partitions = [...ends.keys()].sort((one, other) => one - other);
      const projections = [
        ...(await this.#tables()),
        await this.#marks(booksIn(keys), partitions),
        await this.#marks(ledgerIn(keys), partitions),
      ];
      this.#progress = { ends, projections };
      const stored = projections.find(({ projection }) => projection === 'tables')?.partitions;
      // A silent store still has what it had; tables that do not know any more were lost or restored from a backup.
      if (stored) {
        const throughMs = completeThroughMs(stored, ends);
        this.#known.note({ knownAtMs: this.#parts.nowMs(), throughMs });
        this.#stored = new Map(stored.map(({ partition, offset }) => [partition, offset]));
      }
    } catch (error) {
      log.warn({ err: error }, 'the ends of the log are not known');
    }
  }

  async #tables(): Promise<readonly ProjectionProgress[]> {
    try {
      const requested = this.#parts.clickhouse.selectRows<Row>(completenessSql);
      const rows = await within(requested, answerTimeoutMs, silent);
      const found = new Map<string, PartitionProgress[]>([['tables', []]]);
      for (const { projection, partition, offset, momentMs } of rows) {
        const partitions = found.get(projection) ?? [];
        found.set(projection, partitions);
        partitions.push({ partition, offset: Number(offset), momentMs: Number(momentMs) });
      }
      return [...found].map(([projection, partitions]) => ({ projection, partitions }));
    } catch {
      return [{ projection: 'tables', partitions: null }];
    }
  }

  async #marks(
    { projection, key, fieldsOf }: MarkedProjection,
    partitions: readonly number[],
  ): Promise<ProjectionProgress> {
    if (partitions.length === 0) return { projection, partitions: [] };
    try {
      const marks = await this.#parts.redis.hmget(key, ...partitions.flatMap(fieldsOf));
      const progress = partitions.map((partition, index) => {
        const [offset = null, clock = null] = marks.slice(2 * index, 2 * index + 2);
        // The clock of what was lost is not that of what is there.
        const momentMs = offset === null || clock === null ? null : Number(clock);
        return { partition, offset: Number(offset ?? 0), momentMs };
      });
      return { projection, partitions: progress };
    } catch {
      return { projection, partitions: null };
    }
  }
}

/**
 * A projection that keeps its marks in one hash of Redis: per partition a field with the offset, and one with the
 * clock.
 */
interface MarkedProjection {
  readonly projection: string;
  readonly key: string;
  fieldsOf(partition: number): readonly [offset: string, clock: string];
}

function booksIn({ bookMarks, bookClockOf }: ProgressKeys): MarkedProjection {
  const fieldsOf = (partition: number) => [String(partition), bookClockOf(partition)] as const;
  return { projection: 'books', key: bookMarks, fieldsOf };
}

function ledgerIn({ ledgerMarks, ledgerMarkOf, ledgerClockOf }: ProgressKeys): MarkedProjection {
  const fieldsOf = (partition: number) =>
    [ledgerMarkOf(partition), ledgerClockOf(partition)] as const;
  return { projection: 'ledger', key: ledgerMarks, fieldsOf };
}

function silent(): Fault {
  return new Fault('clickhouse_unavailable', 'retry');
}
