import { newestRules } from '@pm/schemas/log/log-rules';
import type { CommandOf } from '@pm/schemas/log/orders';
import { runLength, seedsFrom } from '../../../kit/test/long-runs.ts';
import { defaultLimits, Engine } from '../../src/core/index.ts';
import type { EngineFactory } from '../../src/partition/restore.io.ts';
import { snapshotFolder, topicNames } from './matcher-process.ts';
import { MemoryFiles } from './memory-files.ts';
import { readOutputs, replayOutputs } from './reading.ts';
import { ReplicaHistory } from './replica-history.ts';
import { keys, sealed } from './sealed-records.ts';

const histories = runLength({ test: 2, deep: 8 });
/** Wait before a partition is restored again, milliseconds. */
const restoreWaitMs = 100;
/** The processes that run at a time. */
const places = [0, 1, 2] as const;

/** Steps at which processes are replaced, one after the other, the rules begin, and one goes back and forth again. */
const upgrades: readonly number[] = [40, 60, 80];
const [beginsAt, rollbackAt, againAt] = [110, 150, 220] as const;

/**
 * Matchers that know older rules are replaced one after the other by those that know the newest, while orders flow and
 * processes stand still, die, and lose sends. Newer rules begin; one matcher is rolled back, and later replaced again.
 * In histories of odd seeds one of the older ones is forgotten, and is there when the rules begin.
 */
class RollingChange {
  readonly history: ReplicaHistory;
  /** The newest rules that the process at each place knows. */
  readonly #known: number[];
  readonly #files = new MemoryFiles();
  readonly #older: number;
  readonly #forgotten: number | null;
  readonly #rolledBack: number;
  /** Ids of the processes that know older rules only, since the newer ones began, hex. */
  readonly olderOwners = new Set<string>();
  /** States and faults of older processes at the end of their time, beside newer ones. */
  readonly released: string[] = [];
  /** Records that were appended by then and have no output. */
  unstored = 0;
  /** Snapshots that older processes could not use, each time. */
  passed = 0;

  constructor(seed: number) {
    this.#older = 1 + (seed % (newestRules - 1));
    this.#known = places.map(() => this.#older);
    this.#forgotten = seed % 2 === 0 ? null : seed % places.length;
    this.#rolledBack = (seed + 1) % places.length;
    this.history = new ReplicaHistory(seed, {
      rules: this.#older,
      restoreWaitMs,
      optionsAt: (place) => ({ files: this.#files, engines: this.#enginesAt(place) }),
      before: (step) => this.#before(step),
    });
  }

  get badSnapshots(): readonly string[] {
    return this.#files.names(snapshotFolder).filter((name) => name.endsWith('.bad'));
  }

  async #before(step: number): Promise<void> {
    this.#watch(step);
    const upgraded = upgrades.indexOf(step);
    if (upgraded !== -1 && upgraded !== this.#forgotten) await this.#begin(upgraded, newestRules);
    if (step === beginsAt) this.#beginRules();
    if (step === rollbackAt) await this.#begin(this.#rolledBack, this.#older);
    if (step === againAt) await this.#endOlder();
  }

  /**
   * Notes the inputs without stored outputs while newer processes run beside older ones, and the states of the older
   * ones, which are replaced then.
   */
  async #endOlder(): Promise<void> {
    const { log } = this.history;
    const inputs = log.records(topicNames.orders).length;
    await this.history.calm();
    this.unstored = Math.max(0, inputs - readOutputs(log).executions.length);
    for (const place of places) {
      if (this.#known[place] === newestRules) continue;
      const { state, fault } = this.history.replicaAt(place).status;
      this.released.push(`${state} ${fault}`);
      await this.#begin(place, newestRules);
    }
  }

  /** The process of a place ends in good order, and one that knows these rules takes its place. */
  async #begin(place: number, known: number): Promise<void> {
    this.#known[place] = known;
    const former = this.history.replicaAt(place);
    this.history.replace(place);
    await former.process.owned.stop();
  }

  #beginRules(): void {
    const newer = sealed(keys.operator, [{ kind: 'SetRules', version: newestRules }]);
    this.history.log.append(topicNames.orders, newer);
  }

  #watch(step: number): void {
    if (step < beginsAt || step > againAt) return;
    for (const place of places) {
      if (this.#known[place] === newestRules) continue;
      const { ownerId } = this.history.replicaAt(place).process;
      this.olderOwners.add(ownerId.toString('hex'));
    }
  }

  #enginesAt(place: number): EngineFactory {
    const known = this.#known[place] ?? newestRules;
    return {
      create: (partition) => new Engine(partition, defaultLimits, known),
      restore: (state) => {
        try {
          return Engine.restore(state, defaultLimits, known);
        } catch (error) {
          this.passed += 1;
          throw error;
        }
      },
    };
  }
}

describe('matchers that are replaced one after the other while newer rules begin', () => {
  const seen = { released: 0, passed: 0, copies: 0, kills: 0 };

  test.each(seedsFrom(1, histories))(
    'store what a single engine gives, and one that knows older rules stops nothing, seed %i',
    async (seed) => {
      const change = new RollingChange(seed);
      const { history } = change;
      await history.run();
      const { values, copies } = readOutputs(history.log);
      const replayed = replayOutputs(history.log);
      expect(values.length).toBe(replayed.length);
      expect(values.findIndex((value, at) => replayed[at]?.equals(value) !== true)).toBe(-1);
      const statuses = history.statuses();
      expect(statuses.map(({ role }) => role).sort()).toEqual(['owner', 'standby', 'standby']);
      expect(new Set(statuses.map(({ chain, term }) => `${chain} ${term}`)).size).toBe(1);
      expect(statuses.map(({ rules }) => rules)).toEqual(places.map(() => newestRules));
      const owners = history
        .claims()
        .map((claim) => (claim as CommandOf<'ClaimPartition'>).owner.toString('hex'));
      expect(owners.filter((owner) => change.olderOwners.has(owner))).toEqual([]);
      expect(change.badSnapshots).toEqual([]);
      expect(change.unstored).toBe(0);
      expect(new Set(change.released)).toEqual(new Set(['failed newer_record']));
      seen.released += change.released.length;
      seen.passed += change.passed;
      seen.copies += copies;
      seen.kills += history.kills;
    },
    240_000,
  );

  test('have met newer rules and snapshots under them, died, and written copies in these histories', () => {
    expect(Math.min(...Object.values(seen))).toBeGreaterThanOrEqual(histories);
  });
});
