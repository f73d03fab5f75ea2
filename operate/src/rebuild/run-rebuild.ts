import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { completeOffsets } from '@pm/deploy/installation/completeness';
import type { Installation } from '@pm/deploy/installation/open';
import { insist, retriedTables } from '@pm/deploy/installation/retry-budget';
import { StackError } from '@pm/deploy/local/stack-error';
import { openClickHouse } from '@pm/kit/clickhouse';
import { clickhouseAccount } from '@pm/kit/config';
import { silentLog } from '@pm/kit/log';
import { TablesFold } from '@pm/projectors/fold';
import { type Comparison, compareTable, foldedTables } from './compare.ts';
import {
  createServedDatabase,
  dropDatabase,
  exchangeTables,
  prepareDatabases,
  takeSnapshot,
} from './databases.ts';
import { holdLeftMs, whileHeld } from './hold.ts';
import { endsOf, farther, type Offsets, type Rebuild, recordsBetween } from './progress.ts';
import { type RebuildLock, takeRebuildLock } from './rebuild-lock.ts';

export interface RebuildOptions {
  /** Compares only: exchanges nothing and leaves no copy. */
  readonly compareOnly: boolean;
  /** Drops the result of an earlier run and folds from the first record. */
  readonly fresh: boolean;
  /**
   * Goes on although projectors still have an open batch after this time, milliseconds: they are halted and write
   * nothing. Null: the run ends then.
   */
  readonly haltedMs: number | null;
  /** Interrupts the run: the hold is lifted, and the folded tables stay for the next run. */
  readonly signal: AbortSignal;
  /** Folded records, of those to fold. */
  onProgress(done: number, records: number): void;
  onStep(step: string): void;
  onComparison(comparison: Comparison): void;
}

export interface RebuildResult {
  /** Tables that differed; null when nothing could be compared. */
  readonly differing: number | null;
  readonly isExchanged: boolean;
}

/** Interval of progress reports. */
const pollMs = 500;
/** At most so many records are folded while the served tables are on hold. */
const nearRecords = 1_000;
/** Time for served tables that are older than the folded ones to catch up. */
const servedLateMs = 30_000;
/** An exchange takes a second; it starts only if the hold lasts much longer. */
const exchangeMs = 20_000;
/** The served tables are held so often for work that needs them at rest: on a busy machine a hold may be too short. */
const holds = 3;

/**
 * Folds the log from scratch into a database beside the served one, compares the content of every table at one log
 * position, and exchanges them. It can be ended at any time and run again: the folded tables are kept, and the served
 * tables are right at every step. Tables that an earlier run has folded are exchanged only if they equal the served
 * ones: of two that differ neither is known to be right.
 *
 * Throws a `StackError` while another run works, and the reason of the signal when it is interrupted.
 */
export async function runRebuild(
  installation: Installation,
  options: RebuildOptions,
): Promise<RebuildResult> {
  const lock = await takeRebuildLock(installation);
  try {
    await createServedDatabase(installation);
    const rebuild = rebuildOf(installation, { lock, signal: options.signal });
    if (options.fresh) await dropDatabase(rebuild.tables, rebuild.rebuilt);
    return await foldAndCompare(rebuild, options);
  } finally {
    await lock.release();
  }
}

function rebuildOf(
  installation: Installation,
  { lock, signal }: { readonly lock: RebuildLock; readonly signal: AbortSignal },
): Rebuild {
  const served = installation.addresses.clickhouseDatabase;
  return {
    installation,
    served,
    rebuilt: `${served}_rebuild`,
    snapshot: `${served}_still`,
    tables: retriedTables(installation.clickhouse),
    isAlone: lock.isHeld,
    assertMayGoOn() {
      signal.throwIfAborted();
      if (!lock.isHeld()) throw lockLost();
    },
  };
}

async function foldAndCompare(rebuild: Rebuild, options: RebuildOptions): Promise<RebuildResult> {
  for (;;) {
    const begun = await prepareDatabases(rebuild);
    if (begun === 'exchanged') return { differing: null, isExchanged: true };
    const result = await judge(rebuild, options, { isTrusted: begun === 'fresh' });
    if (result !== null) return result;
    options.onStep(
      'the tables of an earlier run differ from the served ones: folding from the first record',
    );
    rebuild.assertMayGoOn();
    await dropDatabase(rebuild.tables, rebuild.rebuilt);
  }
}

/** Null when the copy differs from the served tables and either may be wrong. */
async function judge(
  rebuild: Rebuild,
  options: RebuildOptions,
  { isTrusted }: { readonly isTrusted: boolean },
): Promise<RebuildResult | null> {
  const { fold, close } = await openFold(rebuild);
  const run = new RebuildRun(rebuild, fold, options);
  try {
    const differing = await run.compare();
    if (!isTrusted && differing !== 0) return null;
    if (!options.compareOnly) await run.exchange();
    rebuild.assertMayGoOn();
    await dropDatabase(rebuild.tables, rebuild.rebuilt);
    return { differing, isExchanged: !options.compareOnly };
  } finally {
    await close();
  }
}

async function openFold({ installation, rebuilt }: Rebuild) {
  const { addresses, client, schemas } = installation;
  const clickhouse = openClickHouse({
    ...clickhouseAccount(addresses),
    database: rebuilt,
    log: silentLog,
  });
  const { topicPrefix } = addresses;
  const parts = { client, schemas, topicPrefix, clickhouse, log: silentLog };
  const fold = await insist(() => TablesFold.open(parts));
  const close = async () => {
    await fold.close();
    await clickhouse.close();
  };
  return { fold, close };
}

class RebuildRun {
  readonly #rebuild: Rebuild;
  readonly #fold: TablesFold;
  readonly #options: RebuildOptions;

  constructor(rebuild: Rebuild, fold: TablesFold, options: RebuildOptions) {
    this.#rebuild = rebuild;
    this.#fold = fold;
    this.#options = options;
  }

  /** Folds the rebuilt tables to the position of a snapshot of the served ones, and compares the two. */
  async compare(): Promise<number | null> {
    const { tables, snapshot, rebuilt, served } = this.#rebuild;
    const { onStep, onComparison } = this.#options;
    onStep('folding the log up to the served tables');
    await this.#approach(() => completeOffsets(tables, served));
    if (await this.#isServedLate()) return null;
    onStep('taking a snapshot of the served tables');
    await this.#atRest(async () => {
      await takeSnapshot(this.#rebuild);
      return (await holdLeftMs(this.#rebuild)) > 0;
    });
    const place = await completeOffsets(tables, snapshot);
    await this.#foldTo(place);
    const ends = await endsOf(this.#rebuild.installation);
    onStep(`comparing at ${countOf(place)} of ${countOf(ends)} records`);
    let differing = 0;
    for (const table of foldedTables) {
      this.#rebuild.assertMayGoOn();
      const compared = compareTable(tables, table, { served: snapshot, rebuilt });
      const comparison = await this.#unlessBroken(compared);
      if (comparison.difference !== null) differing += 1;
      onComparison(comparison);
    }
    await dropDatabase(tables, snapshot);
    return differing;
  }

  async exchange(): Promise<void> {
    const { installation, tables, served } = this.#rebuild;
    this.#options.onStep('folding the log to its end');
    await this.#approach(() => endsOf(installation));
    this.#options.onStep('exchanging the tables');
    await this.#atRest(async () => {
      await this.#foldTo(await completeOffsets(tables, served));
      if ((await holdLeftMs(this.#rebuild)) < exchangeMs) return false;
      await exchangeTables(this.#rebuild);
      return true;
    });
  }

  /** Works on served tables at rest: again, under a new hold, when the hold was too short for it. */
  async #atRest(work: () => Promise<boolean>): Promise<void> {
    for (let held = 0; held < holds; held += 1)
      if (await whileHeld(this.#rebuild, this.#options, work)) return;
    throw tooSlow();
  }

  /** Folds to a goal that moves, until few records are left. */
  async #approach(goalNow: () => Promise<Offsets>): Promise<void> {
    const { tables, rebuilt } = this.#rebuild;
    for (;;) {
      const goal = await goalNow();
      const left = recordsBetween(await completeOffsets(tables, rebuilt), goal);
      await this.#foldTo(goal);
      if (left <= nearRecords) return;
    }
  }

  /** Tables of an earlier run may be ahead of served tables that were lost, or that no projector fills. */
  async #isServedLate(): Promise<boolean> {
    const { tables, served, rebuilt } = this.#rebuild;
    const deadlineMs = performance.now() + servedLateMs;
    for (;;) {
      const [there, here] = [
        await completeOffsets(tables, rebuilt),
        await completeOffsets(tables, served),
      ];
      if (recordsBetween(here, there) === 0) return false;
      if (performance.now() > deadlineMs) return true;
      this.#rebuild.assertMayGoOn();
      await sleep(pollMs);
    }
  }

  async #foldTo(goal: Offsets): Promise<void> {
    const { tables, rebuilt } = this.#rebuild;
    this.#rebuild.assertMayGoOn();
    const from = await completeOffsets(tables, rebuilt);
    const records = countOf(farther(from, goal));
    const report = async () => {
      const at = await completeOffsets(tables, rebuilt);
      this.#options.onProgress(records - recordsBetween(at, goal), records);
    };
    const ended = new AbortController();
    const reports = this.#every(report, ended.signal);
    try {
      await this.#unlessBroken(insist(() => this.#fold.to(goal)));
    } finally {
      ended.abort();
      await reports;
    }
    await report();
  }

  /** Rejects when the run is interrupted. Unfinished work ends with this process; it changes no served table. */
  async #unlessBroken<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#options;
    const ended = new AbortController();
    const broken = once(signal, 'abort', { signal: ended.signal }).then(() => {
      throw signal.reason;
    });
    broken.catch(() => {});
    try {
      return await Promise.race([work, broken]);
    } finally {
      ended.abort();
    }
  }

  async #every(report: () => Promise<void>, signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(pollMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      // A report that fails is repeated; faults that matter occur in the fold itself.
      await report().catch(() => {});
    }
  }
}

function countOf(place: Offsets): number {
  return recordsBetween(new Map(), place);
}

function lockLost(): StackError {
  return new StackError(
    'START_FAILED',
    'the lock of this rebuild is lost: another one may have started. Run it again when none is running; it resumes',
  );
}

function tooSlow(): StackError {
  return new StackError(
    'START_FAILED',
    'the rebuilt tables do not keep up with the log: run it again when there is less load; it resumes',
  );
}
