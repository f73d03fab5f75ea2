import { setTimeout as wait } from 'node:timers/promises';
import { findInstallation } from '@pm/deploy/installation/addresses';
import { openInstallation } from '@pm/deploy/installation/open';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import { rebuildHold } from '@pm/schemas';
import { variablesOf } from '../../../acceptance/test/services-under-test.ts';
import { runLength } from '../../../kit/test/long-runs.ts';
import { runRebuild } from '../../src/rebuild/run-rebuild.ts';
import { type RebuildProcess, RebuiltExchange } from './rebuilt-exchange.ts';

const kills = runLength({ test: 3, deep: 8 });
/** Exchanged tables after which a run dies: in the middle first, before any, and with `completeness` alone left. */
const survivedTables = [9, 0, 17].slice(0, runLength({ test: 1, deep: 3 }));
let exchange: RebuiltExchange;

beforeAll(async () => {
  exchange = new RebuiltExchange('rebuild');
  await exchange.open();
  await exchange.grow(150);
  exchange.startProjector();
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
  /** Takes the names of tables that differed. */
  readonly differing?: string[];
}

/** Rebuilds in this process; resolves to the names of tables that differed. */
async function rebuildHere({
  look = () => undefined,
  breaking: { signal } = new AbortController(),
  compareOnly = false,
  differing = [],
}: Rebuilt): Promise<readonly string[]> {
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
        goesOnHalted: false,
        signal,
        onProgress: () => {},
        onStep: () => {},
        onComparison: ({ table, difference }) => {
          if (difference !== null) differing.push(table);
        },
      },
    );
    expect(isExchanged).toBe(!compareOnly);
    return differing;
  } finally {
    await installation.close();
  }
}

/** Every served table is what the log says. */
async function expectEqual(): Promise<void> {
  expect(await rebuildHere({ compareOnly: true })).toEqual([]);
}

/** Fails all statements after a number of exchanged tables, as if the command had died; tables that differed before. */
async function dyingRebuild(survived: number): Promise<readonly string[]> {
  const differing: string[] = [];
  let exchanged = 0;
  const look = (sql: string): undefined => {
    if (sql.startsWith('EXCHANGE')) exchanged += 1;
    if (exchanged > survived) throw new Fault('killed', 'stop');
  };
  await expect(rebuildHere({ look, differing })).rejects.toThrow('killed');
  return differing;
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
    const stop = exchange.keepGrowing();
    const first = exchange.rebuild();
    const code = await first.ended;
    await wait(2_000);
    await stop();
    expect(`${code}\n${first.output}`).toMatch(/^0\n/);
    expect(first.output).toMatch(/DIFFER +fills /);
    expect(first.output).toMatch(/DIFFER +positions /);
    expect(first.output).toMatch(/equal +order_events /);
    await exchange.settle();
    expect(await exchange.wrongFills()).toBe(0);
  }, 600_000);

  test('leaves no copy that a later comparison would reuse', async () => {
    expect(await exchange.copies()).toEqual([]);
  });

  test('does not trust a copy of an earlier run that differs from the served tables, and folds again', async () => {
    await exchange.grow(100);
    await exchange.settle();
    const killed = exchange.rebuild(['--compare-only']);
    await killed.said('comparing at');
    killed.kill();
    await killed.ended;
    expect(await exchange.copies()).toContain(`${exchange.name}_rebuild`);
    await exchange.clickhouse.command(
      `DELETE FROM ${exchange.name}_rebuild.fills WHERE in_offset % 5 = 1`,
    );
    const run = exchange.rebuild();
    expect(`${await run.ended}\n${run.output}`).toMatch(/^0\n/);
    const [before = '', after = ''] = run.output.split('folding from the first record');
    expect(before).toMatch(/DIFFER +fills /);
    expect(after).not.toContain('DIFFER');
    expect(after).toContain('every table equals the log');
    expect(await exchange.wrongFills()).toBe(0);
    expect(await exchange.copies()).toEqual([]);
  }, 600_000);

  test('starts with the first record on --fresh', async () => {
    const killed = exchange.rebuild(['--compare-only']);
    await killed.said('comparing at');
    killed.kill();
    await killed.ended;
    await exchange.clickhouse.command(`TRUNCATE TABLE ${exchange.name}_rebuild.fills`);
    const run = exchange.rebuild(['--compare-only', '--fresh']);
    expect(`${await run.ended}\n${run.output}`).toMatch(/^0\n/);
    expect(run.output).not.toContain('DIFFER');
    expect(await exchange.copies()).toEqual([]);
  }, 600_000);

  test('is the only run on its tables, and leaves no hold when it is interrupted', async () => {
    const run = exchange.rebuild();
    await run.said('folding the log');
    run.kill('SIGINT');
    expect(await run.ended).toBe(130);
    expect(run.output).toContain('Run it again');
    const breaking = new AbortController();
    const reason = new Error('broken off');
    let beside: RebuildProcess | undefined;
    const look = async (sql: string) => {
      if (!sql.includes('INSERT INTO') || !sql.includes(rebuildHold.name)) return undefined;
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

  test('resumes after it was killed at any step, and the served tables are never wrong', async () => {
    const stop = exchange.keepGrowing();
    const wrong: number[] = [];
    const look = async () => wrong.push(await exchange.wrongFills());
    for (let killed = 0; killed < kills; killed += 1) {
      const run = exchange.rebuild();
      // Later each time, so that each step is interrupted once.
      const dies = wait(400 + (killed * 4_000) / kills).then(() => run.kill());
      await Promise.all([look(), run.ended, dies]);
      await look();
      if (killed === Math.floor(kills / 2)) {
        await exchange.stopProjector('SIGKILL');
        exchange.startProjector();
      }
    }
    const last = exchange.rebuild();
    const code = await last.ended;
    await look();
    await stop();
    expect(`${code}\n${last.output}`).toMatch(/^0\n/);
    expect(wrong.filter((count) => count !== 0)).toEqual([]);
    await exchange.settle();
    expect(await exchange.wrongFills()).toBe(0);
  }, 600_000);

  test.each(survivedTables)(
    'leaves everything right when it dies after %i exchanged tables',
    async (survived) => {
      const stop = exchange.keepGrowing();
      // Nor was anything wrong after the runs that were killed before.
      expect(await dyingRebuild(survived)).toEqual([]);
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

  test('holds the tables again when a hold ended before the snapshot or the exchange', async () => {
    const stop = exchange.keepGrowing();
    let held = 0;
    const look = (sql: string) => {
      if (!sql.includes('INSERT INTO') || !sql.includes(rebuildHold.name)) return undefined;
      held += 1;
      return held % 2 === 1 ? { ms: 1 } : undefined;
    };
    // Nor did a run that died leave anything wrong.
    expect(await rebuildHere({ look })).toEqual([]);
    await stop();
    expect(held).toBe(4);
    await exchange.settle();
    expect(await exchange.wrongFills()).toBe(0);
  }, 600_000);

  test('creates all lost tables again', async () => {
    await exchange.clickhouse.command(`DROP DATABASE ${exchange.name} SYNC`);
    const run = exchange.rebuild();
    expect(`${await run.ended}\n${run.output}`).toMatch(/^0\n/);
    await exchange.grow(5);
    await exchange.settle();
    expect(await exchange.wrongFills()).toBe(0);
    await expectEqual();
  }, 600_000);

  test('creates missing tables and columns for a projector that waits for them', async () => {
    await exchange.settle();
    await exchange.clickhouse.command('DROP TABLE tape SYNC');
    await exchange.clickhouse.command('ALTER TABLE wallet_cancels DROP COLUMN reason');
    const stop = exchange.keepGrowing();
    await wait(2_000);
    const run = exchange.rebuild(['--halted']);
    const code = await run.ended;
    await stop();
    expect(`${code}\n${run.output}`).toMatch(/^0\n/);
    expect(run.output).toMatch(/DIFFER +wallet_cancels +other columns: reason/);
    expect(run.output).toMatch(/DIFFER +tape /);
    await exchange.settle();
    expect(await exchange.wrongFills()).toBe(0);
    await expectEqual();
  }, 600_000);
});
