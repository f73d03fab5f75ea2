import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from '@pm/deploy/installation/open';
import { insist, retriedTables } from '@pm/deploy/installation/retry-budget';
import { StackError } from '@pm/deploy/local/stack-error';
import { openClickHouse } from '@pm/kit/clickhouse';
import { clickhouseAccount } from '@pm/kit/config';
import { silentLog } from '@pm/kit/log';
import { TablesFold } from '@pm/projectors/fold';
import { type Comparison, compareTable, foldedTables } from './compare.ts';
import { dropDatabase, exchangeTables, prepareDatabases, takeStill } from './databases.ts';
import { holdLeftMs, whileHeld } from './hold.ts';
import {
  completeIn,
  endsOf,
  farther,
  type Offsets,
  type Rebuild,
  recordsBetween,
} from './progress.ts';
import { type RebuildLock, takeRebuildLock } from './rebuild-lock.ts';

export interface RebuildOptions {
  /** Compares, exchanges nothing, and leaves no copy. */
  readonly compareOnly: boolean;
  /** Leaves what an earlier run has folded, and folds from the first record. */
  readonly fresh: boolean;
  /** Goes on although projectors have a batch under way: they are halted and write nothing. */
  readonly goesOnHalted: boolean;
  /** Breaks off: the hold is lifted, and what is folded stays for the next run. */
  readonly signal: AbortSignal;
  /** Records that are folded, of those to fold. */
  onProgress(done: number, records: number): void;
  onStep(step: string): void;
  onComparison(comparison: Comparison): void;
}

export interface RebuildResult {
  /** Tables that differed; null when nothing could be compared. */
  readonly differing: number | null;
  readonly isExchanged: boolean;
}

/** How often progress is told. */
const pollMs = 500;
/** What is left to fold is small: the rest goes while the tables are held. */
const nearRecords = 1_000;
/** The served tables may be behind what was folded before for so long. */
const servedBehindMs = 30_000;
/** An exchange takes a second; it begins only while the hold lasts for much longer. */
const exchangeMs = 20_000;

/**
 * Folds the log anew into a database beside the served one, compares every table by its content at one moment, and exchanges
 * them. Ended at any moment it can be run again: what was folded is kept, and the served tables are right at every step. What an
 * earlier run has folded is exchanged in only when it is what is served: of two that differ none is known to be right.
 *
 * Throws a `StackError` when another run is at work, and the reason of the signal when it is broken off.
 */
export async function runRebuild(
  installation: Installation,
  options: RebuildOptions,
): Promise<RebuildResult> {
  const lock = await takeRebuildLock(installation);
  try {
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
    ...{ installation, served, rebuilt: `${served}_rebuild`, still: `${served}_still` },
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
      'what an earlier run folded is not what is served: folding from the first record',
    );
    rebuild.assertMayGoOn();
    await dropDatabase(rebuild.tables, rebuild.rebuilt);
  }
}

/** Null: the copy is not what is served, and nothing says which of the two is right. */
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
  const { addresses, client } = installation;
  const clickhouse = openClickHouse({
    ...clickhouseAccount(addresses),
    database: rebuilt,
    log: silentLog,
  });
  const { registryUrl, topicPrefix } = addresses;
  const parts = { client, registryUrl, topicPrefix, clickhouse, log: silentLog };
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

  /** Brings the rebuilt tables to exactly where a still picture of the served ones is, and compares the two. */
  async compare(): Promise<number | null> {
    const { tables, still, rebuilt, served } = this.#rebuild;
    const { onStep, onComparison } = this.#options;
    onStep('folding the log up to the served tables');
    await this.#approach(() => completeIn(tables, served));
    if (await this.#isServedBehind()) return null;
    onStep('taking a still picture of the served tables');
    await whileHeld(this.#rebuild, this.#options, async () => {
      await takeStill(this.#rebuild);
      if ((await holdLeftMs(this.#rebuild)) <= 0) throw tooSlow();
    });
    const place = await completeIn(tables, still);
    await this.#foldTo(place);
    const ends = await endsOf(this.#rebuild.installation);
    onStep(`comparing at ${countOf(place)} of ${countOf(ends)} records`);
    let differing = 0;
    for (const table of foldedTables) {
      this.#rebuild.assertMayGoOn();
      const compared = compareTable(tables, table, { served: still, rebuilt });
      const comparison = await this.#unlessBroken(compared);
      if (comparison.difference !== null) differing += 1;
      onComparison(comparison);
    }
    await dropDatabase(tables, still);
    return differing;
  }

  async exchange(): Promise<void> {
    const { installation, tables, served } = this.#rebuild;
    this.#options.onStep('folding the log to its end');
    await this.#approach(() => endsOf(installation));
    this.#options.onStep('exchanging the tables');
    await whileHeld(this.#rebuild, this.#options, async () => {
      await this.#foldTo(await completeIn(tables, served));
      if ((await holdLeftMs(this.#rebuild)) < exchangeMs) throw tooSlow();
      await exchangeTables(this.#rebuild);
    });
  }

  /** Goes after a goal that moves until little is left of the way. */
  async #approach(goalNow: () => Promise<Offsets>): Promise<void> {
    const { tables, rebuilt } = this.#rebuild;
    for (;;) {
      const goal = await goalNow();
      const left = recordsBetween(await completeIn(tables, rebuilt), goal);
      await this.#foldTo(goal);
      if (left <= nearRecords) return;
    }
  }

  /** What an earlier run has folded may be farther than tables that were lost, or that nobody fills. */
  async #isServedBehind(): Promise<boolean> {
    const { tables, served, rebuilt } = this.#rebuild;
    const deadlineMs = performance.now() + servedBehindMs;
    for (;;) {
      const [there, here] = [await completeIn(tables, rebuilt), await completeIn(tables, served)];
      if (recordsBetween(here, there) === 0) return false;
      if (performance.now() > deadlineMs) return true;
      this.#rebuild.assertMayGoOn();
      await sleep(pollMs);
    }
  }

  async #foldTo(goal: Offsets): Promise<void> {
    const { tables, rebuilt } = this.#rebuild;
    this.#rebuild.assertMayGoOn();
    const from = await completeIn(tables, rebuilt);
    const records = countOf(farther(from, goal));
    const tell = async () => {
      const at = await completeIn(tables, rebuilt);
      this.#options.onProgress(records - recordsBetween(at, goal), records);
    };
    const ended = new AbortController();
    const telling = this.#every(tell, ended.signal);
    try {
      await this.#unlessBroken(insist(() => this.#fold.to(goal)));
    } finally {
      ended.abort();
      await telling;
    }
    await tell();
  }

  /** What is under way ends with this process: it changes nothing that is served. */
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

  async #every(tell: () => Promise<void>, signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(pollMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      // A look that fails is made again; what matters fails in the fold itself.
      await tell().catch(() => {});
    }
  }
}

function countOf(place: Offsets): number {
  return recordsBetween(new Map(), place);
}

function lockLost(): StackError {
  return new StackError(
    'START_FAILED',
    'the lock of this rebuild is lost: another may have begun. Run it again when none is under way, it goes on',
  );
}

function tooSlow(): StackError {
  return new StackError(
    'START_FAILED',
    'the rebuilt tables do not keep up with the log: run it again, it goes on, when there is less to do',
  );
}
