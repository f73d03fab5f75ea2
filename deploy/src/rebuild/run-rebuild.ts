import { setTimeout as sleep } from 'node:timers/promises';
import { openClickHouse } from '@pm/kit/clickhouse';
import { clickhouseAccount } from '@pm/kit/config';
import { silentLog } from '@pm/kit/log';
import { openTablesFold, type TablesFold } from '@pm/projectors/fold';
import type { Installation } from '../installation/open.ts';
import { insist, patientTables } from '../installation/patience.ts';
import { StackError } from '../local/stack-error.ts';
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
} from './standing.ts';

export interface RebuildOptions {
  /** Compares, and exchanges nothing. */
  readonly compareOnly: boolean;
  /** Goes on although projectors have a batch under way: they are halted and write nothing. */
  readonly goesOnHalted: boolean;
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
 * them. Ended at any moment it can be run again: what was folded is kept, and the served tables are right at every step.
 */
export async function runRebuild(
  installation: Installation,
  options: RebuildOptions,
): Promise<RebuildResult> {
  const served = installation.addresses.clickhouseDatabase;
  const tables = patientTables(installation.clickhouse);
  const names = { served, rebuilt: `${served}_rebuild`, still: `${served}_still` };
  const rebuild: Rebuild = { installation, tables, ...names };
  if ((await prepareDatabases(rebuild)) === 'exchanged')
    return { differing: null, isExchanged: true };
  const { fold, close } = await openFold(rebuild);
  const run = new RebuildRun(rebuild, fold, options);
  try {
    const differing = await run.compare();
    if (!options.compareOnly) await run.exchange();
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
  const fold = await insist(() => openTablesFold(parts));
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
      const comparison = await compareTable(tables, table, { served: still, rebuilt });
      if (comparison.difference !== null) differing += 1;
      onComparison(comparison);
    }
    await dropDatabase(tables, still);
    return differing;
  }

  async exchange(): Promise<void> {
    const { installation, tables, served, rebuilt } = this.#rebuild;
    this.#options.onStep('folding the log to its end');
    await this.#approach(() => endsOf(installation));
    this.#options.onStep('exchanging the tables');
    await whileHeld(this.#rebuild, this.#options, async () => {
      await this.#foldTo(await completeIn(tables, served));
      if ((await holdLeftMs(this.#rebuild)) < exchangeMs) throw tooSlow();
      await exchangeTables(this.#rebuild);
    });
    await dropDatabase(tables, rebuilt);
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
      await sleep(pollMs);
    }
  }

  async #foldTo(goal: Offsets): Promise<void> {
    const { tables, rebuilt } = this.#rebuild;
    const from = await completeIn(tables, rebuilt);
    const records = countOf(farther(from, goal));
    const tell = async () => {
      const at = await completeIn(tables, rebuilt);
      this.#options.onProgress(records - recordsBetween(at, goal), records);
    };
    const ended = new AbortController();
    const telling = this.#every(tell, ended.signal);
    try {
      await insist(() => this.#fold.to(goal));
    } finally {
      ended.abort();
      await telling;
    }
    await tell();
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

function tooSlow(): StackError {
  return new StackError(
    'START_FAILED',
    'the rebuilt tables do not keep up with the log: run it again, it goes on, when there is less to do',
  );
}
