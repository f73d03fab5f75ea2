import { setTimeout as wait } from 'node:timers/promises';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import { rebuildHold } from '@pm/schemas';
import { findInstallation } from '../../src/installation/addresses.ts';
import { openInstallation } from '../../src/installation/open.ts';
import { runRebuild } from '../../src/rebuild/run-rebuild.ts';
import { variablesOf } from '../services-under-test.ts';
import { RebuiltExchange } from './rebuilt-exchange.ts';

let exchange: RebuiltExchange;

beforeAll(async () => {
  exchange = new RebuiltExchange('rebuild');
  await exchange.open();
  await exchange.grow(150);
  exchange.startProjector();
  await exchange.settle();
}, 120_000);

afterAll(async () => {
  await exchange?.close();
}, 60_000);

/** Rebuilds, and reaches ClickHouse no more once so many tables are exchanged: the command is dead for all that matters. */
async function dyingRebuild(survived: number): Promise<void> {
  const installation = openInstallation(
    await findInstallation(variablesOf(exchange.name), ''),
    'rebuild',
  );
  let exchanged = 0;
  const look = (sql: string) => {
    if (sql.startsWith('EXCHANGE')) exchanged += 1;
    if (exchanged > survived) throw new Fault('killed', 'stop');
  };
  const clickhouse: ClickHouse = {
    ...installation.clickhouse,
    async selectRows(sql, params) {
      look(sql);
      return await installation.clickhouse.selectRows(sql, params);
    },
    async command(sql, params) {
      look(sql);
      await installation.clickhouse.command(sql, params);
    },
  };
  const tellNobody = { onProgress: () => {}, onStep: () => {}, onComparison: () => {} };
  const options = { compareOnly: false, goesOnHalted: false, ...tellNobody };
  try {
    await runRebuild({ ...installation, clickhouse }, options);
  } finally {
    await installation.close();
  }
}

describe('npm run rebuild', () => {
  test('finds what was damaged and mends it, while records keep coming and the projector has read the damage', async () => {
    await exchange.stopProjector();
    await exchange.clickhouse.command('DELETE FROM fills WHERE in_offset % 10 = 3');
    await exchange.clickhouse.command(
      'INSERT INTO positions SELECT * REPLACE (size + 1000 AS size) FROM positions FINAL WHERE market = 1',
    );
    expect(await exchange.wrongFills()).toBeLessThan(0);
    exchange.startProjector();
    const stop = exchange.keepGrowing(50);
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
    const second = exchange.rebuild(['--compare-only']);
    expect(`${await second.ended}\n${second.output}`).toMatch(/^0\n/);
    expect(second.output).not.toContain('DIFFER');
  }, 240_000);

  test('goes on after it was killed anywhere, and nothing that is served is ever wrong', async () => {
    const stop = exchange.keepGrowing(50);
    const wrong: number[] = [];
    const look = async () => wrong.push(await exchange.wrongFills());
    for (let killed = 0; killed < 8; killed += 1) {
      const run = exchange.rebuild();
      // Later and later, so that each step is met.
      const dies = wait(400 + killed * 500).then(() => run.kill());
      await Promise.all([look(), run.ended, dies]);
      await look();
      if (killed === 4) {
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
    const after = exchange.rebuild(['--compare-only']);
    expect(`${await after.ended}\n${after.output}`).toMatch(/^0\n/);
  }, 240_000);

  test.each([0, 9, 17])(
    'leaves everything right when it dies behind %i exchanged tables',
    async (survived) => {
      const stop = exchange.keepGrowing(50);
      await expect(dyingRebuild(survived)).rejects.toThrow('killed');
      expect(await exchange.wrongFills()).toBe(0);
      await stop();
      // A hold whose maker is dead ends by itself, after a minute.
      await exchange.clickhouse.command(`DROP TABLE ${rebuildHold.name} SYNC`);
      await exchange.grow(5);
      await exchange.settle();
      expect(await exchange.wrongFills()).toBe(0);
      const after = exchange.rebuild(['--compare-only']);
      expect(`${await after.ended}\n${after.output}`).toMatch(/^0\n/);
    },
    120_000,
  );

  test('brings tables that are gone, and the columns of today, to a projector that waits for them', async () => {
    await exchange.settle();
    await exchange.clickhouse.command('DROP TABLE tape SYNC');
    await exchange.clickhouse.command('ALTER TABLE wallet_cancels DROP COLUMN reason');
    const stop = exchange.keepGrowing(50);
    await wait(2_000);
    const run = exchange.rebuild(['--halted']);
    const code = await run.ended;
    await stop();
    expect(`${code}\n${run.output}`).toMatch(/^0\n/);
    expect(run.output).toMatch(/DIFFER +wallet_cancels +other columns: reason/);
    expect(run.output).toMatch(/DIFFER +tape /);
    await exchange.settle();
    expect(await exchange.wrongFills()).toBe(0);
    const after = exchange.rebuild(['--compare-only']);
    expect(`${await after.ended}\n${after.output}`).toMatch(/^0\n/);
  }, 240_000);

  test('makes everything again that is lost', async () => {
    await exchange.clickhouse.command(`DROP DATABASE ${exchange.name} SYNC`);
    const run = exchange.rebuild();
    expect(`${await run.ended}\n${run.output}`).toMatch(/^0\n/);
    await exchange.grow(5);
    await exchange.settle();
    expect(await exchange.wrongFills()).toBe(0);
    const after = exchange.rebuild(['--compare-only']);
    expect(`${await after.ended}\n${after.output}`).toMatch(/^0\n/);
  }, 240_000);
});
