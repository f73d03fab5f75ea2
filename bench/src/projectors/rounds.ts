import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../child/child.ts';
import type { BareJob, BareResult } from '../projectors-bare.ts';
import { groupsOfProfile, monotonicMicroseconds, type ProfileShares } from '../report/profile.ts';
import type { Installation } from '../world/installation.ts';
import { type Contents, Databases } from './contents.ts';
import { between, type Projector, startProjector, type Usage } from './process.ts';
import { projectorRules } from './profile-rules.ts';
import { Recorder, type Recording } from './recorder.ts';

/** Rows written to tables, and their times. */
export interface Passage {
  readonly rows: number;
  readonly used: Usage;
  readonly contents: Contents;
}

export interface BarePassage extends Passage {
  readonly inFlight: number;
}

/**
 * Warm-up part of the log, unmeasured: a process that was just started is compiled while it works, which is a matter
 * of seconds and not of rows.
 */
export const warmShare = 0.2;

/** Where measuring ends: at both moments one batch is being written and one gathered. */
const measuredShare = 0.95;

/** Passes of the whole log into fresh tables, one after the other. */
export class Rounds {
  readonly #place: Installation;
  /** Offset after the last record of the log. */
  readonly #end: number;
  readonly #databases: Databases;
  #made = 0;

  constructor(place: Installation, end: number) {
    this.#place = place;
    this.#end = end;
    this.#databases = new Databases(place.tables);
  }

  close(): Promise<void> {
    return this.#databases.close();
  }

  /** The tables view in a process of its own, from an empty database to its last commit, measured when warm. */
  project(clickhouseUrl = this.#place.urls.clickhouse): Promise<Passage> {
    return this.#inFreshTables(async (database) => {
      const projector = await startProjector(this.#place, tablesOnly(database, clickhouseUrl));
      try {
        return await this.#catchUp(projector);
      } finally {
        await projector.stop();
      }
    });
  }

  /** A passage like that of `project`, through a recorder of the inserts sent to ClickHouse. */
  async record(): Promise<{ readonly passage: Passage; readonly recording: Recording }> {
    const { urls, dataDir } = this.#place;
    const recorder = new Recorder(urls.clickhouse, join(dataDir, 'recording'));
    const passage = await this.project(await recorder.listen());
    return { passage, recording: await recorder.end() };
  }

  bare(recording: Recording, inFlight: number): Promise<BarePassage> {
    return this.#inFreshTables(async (database) => {
      const clickhouse = this.#place.urls.clickhouse;
      const warm = Math.floor(recording.inserts.length * warmShare);
      const job: BareJob = { ...recording, clickhouse, database, inFlight, warm };
      const child = startChild<BareResult>('projectors-bare', job);
      await child.ready;
      const before = this.#engines();
      const { seconds, cpuSeconds } = await child.go();
      const after = this.#engines();
      const rows = recording.inserts.slice(warm).reduce((sum, one) => sum + one.rows, 0);
      const used = {
        wall: seconds,
        projector: cpuSeconds,
        clickhouse: after.clickhouse - before.clickhouse,
        kafka: after.kafka - before.kafka,
      };
      return { rows, used, inFlight };
    });
  }

  /** Under V8's profiler. */
  async profile(): Promise<ProfileShares> {
    const folder = mkdtempSync(join(this.#place.dataDir, 'profile-'));
    const window = { from: 0, to: 0 };
    await this.#inFreshTables(async (database) => {
      const env = tablesOnly(database, this.#place.urls.clickhouse);
      const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
      const projector = await startProjector(this.#place, env, flags);
      try {
        const passage = await this.#catchUp(projector, () => {
          window.from = monotonicMicroseconds();
        });
        window.to = monotonicMicroseconds();
        return passage;
      } finally {
        await projector.stop();
      }
    });
    return groupsOfProfile(folder, window, projectorRules);
  }

  /** `onStart` is called when the projector is warm. */
  async #catchUp(
    projector: Projector,
    onStart: () => void = () => {},
  ): Promise<Omit<Passage, 'contents'>> {
    const warm = Math.floor(this.#end * warmShare);
    await projector.until('tables', ({ position }) => position >= warm, 50);
    onStart();
    const [rows, before] = [await projector.rows(), projector.usage()];
    const last = Math.floor(this.#end * measuredShare);
    await projector.until('tables', ({ position }) => position >= last, 50);
    const [rowsThen, then] = [await projector.rows(), projector.usage()];
    await projector.until('tables', ({ position }) => position >= this.#end, 100);
    return { rows: rowsThen - rows, used: between(before, then) };
  }

  async #inFreshTables<T>(work: (database: string) => Promise<T>) {
    const database = `round_${this.#made++}`;
    await this.#databases.make(database);
    const found = await work(database);
    const completeTo = await this.#databases.completeTo(database);
    if (completeTo !== this.#end) throw new Error(`the tables are complete up to ${completeTo}`);
    const contents = await this.#databases.contents(database);
    await this.#databases.drop(database);
    return { ...found, contents };
  }

  #engines() {
    return {
      clickhouse: this.#place.cpuSecondsOf('clickhouse'),
      kafka: this.#place.cpuSecondsOf('kafka'),
    };
  }
}

function tablesOnly(database: string, clickhouseUrl: string): Record<string, string> {
  return {
    PM_VIEWS: 'tables',
    PM_CLICKHOUSE_DATABASE: database,
    PM_CLICKHOUSE_URL: clickhouseUrl,
  };
}
