import { setTimeout as wait } from 'node:timers/promises';
import { findInstallation } from '@pm/deploy/installation/addresses';
import { openInstallation } from '@pm/deploy/installation/open';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import { rebuildHold } from '@pm/schemas/tables/rebuild-hold';
import { variablesOf } from '../../../acceptance/test/services-under-test.ts';
import { runLength } from '../../../kit/test/long-runs.ts';
import { foldedTables } from '../../src/rebuild/compare.ts';
import { comparisonLine } from '../../src/rebuild/output.ts';
import { runRebuild } from '../../src/rebuild/run-rebuild.ts';
import { type RebuildProcess, RebuiltExchange } from './rebuilt-exchange.ts';

const kills = runLength({ test: 3, deep: 8 });
/** Output of a run when a step begins; the steps that change served tables come first. */
const steps = [
  'exchanging the tables',
  'taking a snapshot',
  'comparing at',
  'folding the log up to',
  'folding the log to its end',
];
/** At which the last killed run dies: the run after it resumes and compares. */
const lastStep = 'comparing at';
/** Exchanged tables after which a run dies: in the middle first, before any, and with `completeness` alone left. */
const survivedTables = [9, 0, 17].slice(0, runLength({ test: 1, deep: 3 }));
let exchange: RebuiltExchange;

/** Later tests start from what earlier ones leave, and a comparison of a later one judges their exchanges. */
beforeAll(async () => {
  exchange = new RebuiltExchange('rebuild');
  await exchange.open();
  exchange.startProjector();
  await exchange.grow(100);
  await exchange.settle();
}, 600_000);

afterAll(async () => {
  await exchange?.close();
}, 60_000);

type Params = Parameters<ClickHouse['command']>[1];

interface Rebuilt {
  /** Sees every statement before it is sent, which waits for it, and may give it other parameters. */
  readonly look?: (sql: string) => Params | undefined | Promise<Params | undefined>;
  readonly breaking?: AbortController;
  readonly compareOnly?: boolean;
  /** Takes what the command prints: its steps, and a line for each compared table. */
  readonly lines?: string[];
}

/** Rebuilds in this process; resolves to the lines. */
async function rebuildHere({
  look = () => undefined,
  breaking: { signal } = new AbortController(),
  compareOnly = false,
  lines = [],
}: Rebuilt = {}): Promise<string> {
  const installation = openInstallation(
    await findInstallation(variablesOf(exchange.name), ''),
    'rebuild',
  );
  const clickhouse: ClickHouse = {
    ...installation.clickhouse,
    async selectRows(sql, params) {
      await look(sql);
      return await installation.clickhouse.selectRows(sql, params);
    },
    async command(sql, params) {
      const others = await look(sql);
      await installation.clickhouse.command(sql, others ?? params);
    },
  };
  try {
    const { isExchanged } = await runRebuild(
      { ...installation, clickhouse },
      {
        compareOnly,
        fresh: false,
        haltedMs: null,
        signal,
        onProgress: () => {},
        onStep: (step) => {
          lines.push(step);
        },
        onComparison: (comparison) => {
          lines.push(comparisonLine(comparison));
        },
      },
    );
    expect(isExchanged).toBe(!compareOnly);
    return lines.join('\n');
  } finally {
    await installation.close();
  }
}

/** All tables were compared, and each served one is what the log says. */
function expectAllEqual(text: string): void {
  expect(text).not.toContain('DIFFER');
  expect(text.match(/^equal /gm)).toHaveLength(foldedTables.length);
}

function isHolding(sql: string): boolean {
  return sql.includes('INSERT INTO') && sql.includes(rebuildHold.name);
}

/**
 * Ends every other hold at once. Fails all statements after a number of exchanged tables, as if the command had died.
 * Resolves to the lines and the number of holds.
 */
async function dyingRebuild(
  survived: number,
): Promise<{ readonly text: string; readonly held: number }> {
  const lines: string[] = [];
  let exchanged = 0;
  let held = 0;
  const look = (sql: string) => {
    if (sql.startsWith('EXCHANGE')) exchanged += 1;
    if (exchanged > survived) throw new Fault('killed', 'stop');
    if (!isHolding(sql)) return undefined;
    held += 1;
    return held % 2 === 1 ? { ms: 1 } : undefined;
  };
  await expect(rebuildHere({ look, lines })).rejects.toThrow('killed');
  return { text: lines.join('\n'), held };
}

describe('npm run rebuild', () => {
  test('finds damaged rows and repairs them, while records arrive and the projector has read the damage', async () => {
    await exchange.stopProjector();
    await exchange.clickhouse.command('DELETE FROM fills WHERE in_offset % 10 = 3');
    await exchange.clickhouse.command(
      'INSERT INTO positions SELECT * REPLACE (size + 1000 AS size) FROM positions FINAL WHERE market = 1',
    );
    expect(await exchange.wrongFills()).toBeLessThan(0);
    exchange.startProjector();
    // It has written, so it has read.
    await exchange.grow(1);
    await exchange.settle();
    const stop = exchange.keepGrowing();
    const run = exchange.rebuild();
    const code = await run.ended;
    await stop();
    expect(`${code}\n${run.output}`).toMatch(/^0\n/);
    expect(run.output).toMatch(/DIFFER +fills /);
    expect(run.output).toMatch(/DIFFER +positions /);
    expect(run.output).toMatch(/equal +order_events /);
    expect(run.output).toContain('the rebuilt tables are served');
    await exchange.grow(5);
    await exchange.settle();
    expect(await exchange.wrongFills()).toBe(0);
  }, 600_000);

  test('leaves no copy that a later comparison would reuse', async () => {
    expect(await exchange.copies()).toEqual([]);
  });

  test('is the only run on its tables, and leaves no hold when it is broken off', async () => {
    const breaking = new AbortController();
    const reason = new Error('broken off');
    let beside: RebuildProcess | undefined;
    const look = async (sql: string) => {
      if (!isHolding(sql)) return undefined;
      beside = exchange.rebuild();
      await beside.ended;
      breaking.abort(reason);
      return undefined;
    };
    await expect(rebuildHere({ look, breaking })).rejects.toBe(reason);
    expect(await exchange.isHeld()).toBe(false);
    expect(await beside?.ended).toBe(1);
    expect(beside?.output).toMatch(/another rebuild works on these tables \(process \d+ on /);
  }, 600_000);

  test('does not trust a copy of an earlier run that differs from the served tables, and folds again', async () => {
    expect(await exchange.copies()).toContain(`${exchange.name}_rebuild`);
    await exchange.clickhouse.command(
      `DELETE FROM ${exchange.name}_rebuild.fills WHERE in_offset % 5 = 1`,
    );
    const text = await rebuildHere();
    const [before = '', after = ''] = text.split('folding from the first record');
    expect(before).toMatch(/DIFFER +fills /);
    // The rows that the first test repaired are right.
    expectAllEqual(after);
    expect(await exchange.wrongFills()).toBe(0);
    expect(await exchange.copies()).toEqual([]);
  }, 600_000);

  test('creates missing tables and columns for a projector that waits for them', async () => {
    await exchange.settle();
    await exchange.clickhouse.command('DROP TABLE tape SYNC');
    await exchange.clickhouse.command('ALTER TABLE wallet_cancels DROP COLUMN reason');
    await exchange.growInVain(30);
    const stop = exchange.keepGrowing();
    const run = exchange.rebuild(['--halted', '3']);
    const code = await run.ended;
    await stop();
    expect(`${code}\n${run.output}`).toMatch(/^0\n/);
    expect(run.output).toMatch(/DIFFER +wallet_cancels +other columns: reason/);
    expect(run.output).toMatch(/DIFFER +tape /);
    await exchange.settle();
    expect(await exchange.wrongFills()).toBe(0);
  }, 600_000);

  /** Holds of each run that died. */
  const holds: number[] = [];

  test.each(survivedTables)(
    'leaves everything right when it dies after %i exchanged tables',
    async (survived) => {
      const stop = exchange.keepGrowing();
      const { text, held } = await dyingRebuild(survived);
      holds.push(held);
      // Nor did a run before leave anything wrong.
      expectAllEqual(text);
      expect(await exchange.wrongFills()).toBe(0);
      await stop();
      // The hold of a dead run expires after a minute.
      await exchange.clickhouse.command(`DROP TABLE ${rebuildHold.name} SYNC`);
      await exchange.grow(5);
      await exchange.settle();
      expect(await exchange.wrongFills()).toBe(0);
    },
    600_000,
  );

  test('holds the tables again when a hold ended before the snapshot or the exchange', () => {
    // Each run that died had one hold that ended and one that did not, before each of the two.
    expect(holds).toEqual(survivedTables.map(() => 4));
  });

  test('resumes after it was killed at any step, and the served tables are never wrong', async () => {
    const stop = exchange.keepGrowing();
    const wrong: number[] = [];
    const look = async () => wrong.push(await exchange.wrongFills());
    for (let killed = 0; killed < kills; killed += 1) {
      const run = exchange.rebuild();
      const step = killed === kills - 1 ? lastStep : steps[killed % steps.length];
      await Promise.all([look(), run.said(step ?? lastStep)]);
      // Later in the step in each round of a longer run.
      await wait(300 * Math.floor(killed / steps.length));
      run.kill();
      await run.ended;
      await look();
      if (killed === Math.floor(kills / 2)) {
        await exchange.stopProjector('SIGKILL');
        exchange.startProjector();
      }
    }
    const text = await rebuildHere();
    await look();
    await stop();
    expect(text).not.toContain('folding from the first record');
    // Nor did the run that died leave anything wrong.
    expectAllEqual(text);
    expect(wrong.filter((count) => count !== 0)).toEqual([]);
    await exchange.settle();
    expect(await exchange.wrongFills()).toBe(0);
  }, 600_000);

  test('leaves no hold when it is interrupted', async () => {
    const run = exchange.rebuild();
    await run.said('taking a snapshot');
    // The limit of the test bounds it.
    while (!(await exchange.isHeld())) await wait(5);
    run.kill('SIGINT');
    expect(await run.ended).toBe(130);
    expect(run.output).toContain('Run it again');
    expect(await exchange.isHeld()).toBe(false);
  }, 600_000);

  test('starts with the first record on --fresh', async () => {
    expect(await exchange.copies()).toContain(`${exchange.name}_rebuild`);
    // A row that no fold writes: a resumed copy would keep it.
    await exchange.clickhouse.command(
      `INSERT INTO ${exchange.name}_rebuild.fills
       SELECT * REPLACE (in_offset + 1000000 AS in_offset) FROM fills LIMIT 1`,
    );
    const run = exchange.rebuild(['--compare-only', '--fresh']);
    expect(`${await run.ended}\n${run.output}`).toMatch(/^0\n/);
    // Nor did the run that resumed leave anything wrong.
    expectAllEqual(run.output);
    expect(await exchange.copies()).toEqual([]);
  }, 600_000);

  test('creates all lost tables again', async () => {
    await exchange.clickhouse.command(`DROP DATABASE ${exchange.name} SYNC`);
    await rebuildHere();
    await exchange.grow(5);
    await exchange.settle();
    expect(await exchange.wrongFills()).toBe(0);
    expectAllEqual(await rebuildHere({ compareOnly: true }));
  }, 600_000);
});
