import { setTimeout as wait } from 'node:timers/promises';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import { type LogClient, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import type { RecordCodec } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import { engineUrl } from '../../../kit/test/engines.ts';
import { runLength } from '../../../kit/test/long-runs.ts';
import { ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import { seeded } from '../../../kit/test/seeded.ts';
import { ViewProgress } from '../../src/log/progress.io.ts';
import { RunningView } from '../../src/log/running-view.io.ts';
import { projectorMetrics } from '../../src/metrics.ts';
import {
  openProjectionTables,
  type ProjectionTables,
} from '../../src/tables/projection-tables.io.ts';
import { reusedEvents, tablesView } from '../../src/tables/tables-view.io.ts';
import { TradingLog } from '../trading-log.ts';
import { hashesOf, RealLog, RealTables } from './real-tables.ts';

const name = `projectors_repeats_${process.pid}`;
const topicPrefix = `${name}-`;
const topic = `${topicPrefix}executions`;
const records = 160;
const repeatsWanted = runLength({ test: 240, deep: 1_000 });
/** Repeats that run at the same time. */
const atOnce = 8;
/** Crashes at random points. */
const deathsWanted = 8;
/**
 * Tables after whose insert the process crashes once more: the restored state then has a part of the repeated batch.
 */
const deadlyTables = ['holders', 'candles_1m', 'open_orders', 'positions', 'completeness'];

let client: LogClient;
let codec: RecordCodec<Execution>;
const real = new RealTables(name);

beforeAll(async () => {
  client = openLogClient({
    brokers: [engineUrl('KAFKA')],
    clientId: name,
    log: silentLog,
  });
  codec = await ownSchemas().codecFor(topics.executions, reusedEvents);
  const log = new RealLog(topic, { client, codec });
  await log.open(1);
  await log.append(0, new TradingLog(5).records(records));
}, 120_000);

afterAll(async () => {
  await real.close();
  await client?.close();
}, 30_000);

/** Projects the whole log; `members` of one group at a time, so that the partition changes hands. */
async function project(
  clickhouse: ClickHouse,
  tables: ProjectionTables,
  group: string,
): Promise<void> {
  const metrics = projectorMetrics(openMetrics(group.replaceAll('-', '_')));
  const progress = new ViewProgress(metrics);
  const fail = (error: unknown) => {
    throw error;
  };
  const view = tablesView({
    client,
    topic,
    checksChain: true,
    tables,
    topicPrefix,
    metrics,
    openCodec: async () => codec,
    catalog: { payout0: async () => 0 },
    groupId: `${topicPrefix}${group}`,
    limits: {
      batchRecords: 20,
      batchRows: 2_000,
      batchMs: 50,
      restMs: 50,
      pauseMaxMs: 0,
      retryForMs: 1_000,
    },
  });
  const host = { client, progress, log: silentLog, instance: '', fail };
  let running = await RunningView.start(host, view);
  try {
    for (let tries = 0; (await completeTo(clickhouse)) < records; tries += 1) {
      expect(tries).toBeLessThan(2_400);
      await wait(50);
      if (tries % 100 !== 99) continue;
      // Another member takes over, at an arbitrary point.
      await running.close();
      running = await RunningView.start(host, view);
    }
  } finally {
    await running.close();
  }
}

async function completeTo(clickhouse: ClickHouse): Promise<number> {
  return await openProjectionTables(clickhouse).completeTo(0);
}

describe('the tables of ClickHouse', () => {
  test('have the same rows after crashes, handovers and forced repeats as after an undisturbed run', async () => {
    const straight = await real.fresh();
    await project(straight, openProjectionTables(straight), 'straight');
    const harried = await real.fresh();
    const tables = openProjectionTables(harried);
    const next = seeded(99);
    const sent: { rows: Parameters<ProjectionTables['insert']>[0]; token: string }[] = [];
    let deaths = 0;
    const deadly = new Set(deadlyTables);
    const dieAfter = (table: string) => {
      if (!deadly.delete(table)) return;
      throw new Fault('killed', 'release');
    };
    const dieNow = () => {
      if (deaths >= deathsWanted || next(8) > 0) return;
      deaths += 1;
      throw new Fault('killed', 'release');
    };
    // Half of them as if ClickHouse did not know the token.
    const repeat = async (index: number) => {
      const one = sent[next(sent.length)];
      if (one === undefined) throw new Error('nothing was sent');
      await tables.insert(one.rows, index % 2 === 0 ? one.token : `again:${index}`);
    };
    await project(
      harried,
      {
        ...tables,
        async insert(rows, token) {
          dieNow();
          await tables.insert(rows, token);
          // After this insert their memory is reused.
          sent.push({
            rows: { ...rows, pieces: rows.pieces.map((piece) => Buffer.from(piece)) },
            token,
          });
          dieNow();
          dieAfter(rows.table.name);
        },
      },
      'harried',
    );
    expect(deaths).toBe(deathsWanted);
    expect([...deadly]).toEqual([]);
    for (let repeats = 0; repeats < repeatsWanted; repeats += atOnce)
      await Promise.all(Array.from({ length: atOnce }, (_, one) => repeat(repeats + one)));
    const expected = await hashesOf(straight);
    expect(await hashesOf(harried)).toEqual(expected);
    expect(expected['fills']).not.toMatch(/^0 rows/);
    expect(expected['positions']).not.toMatch(/^0 rows/);
  }, 240_000);
});
