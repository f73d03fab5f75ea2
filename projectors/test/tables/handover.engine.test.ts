import { setTimeout as wait } from 'node:timers/promises';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { type LogClient, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import type { Execution } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import { engineUrl } from '../../../kit/test/engines.ts';
import { ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import { ViewProgress } from '../../src/log/progress.io.ts';
import { RunningView } from '../../src/log/running-view.io.ts';
import type { ViewDefinition } from '../../src/log/view-definition.io.ts';
import { projectorMetrics } from '../../src/metrics.ts';
import {
  openProjectionTables,
  type ProjectionTables,
} from '../../src/tables/projection-tables.io.ts';
import { reusedEvents, tablesView } from '../../src/tables/tables-view.io.ts';
import { ofPartition } from '../log.ts';
import { TradingLog } from '../trading-log.ts';
import { hashesOf, RealLog, RealTables } from './real-tables.ts';

/**
 * Members of one group come and go while batches are unfinished: a new owner sends the unfinished batch of the earlier
 * owner again, and the earlier owner continues to send late inserts.
 */
const name = `projectors_handover_${process.pid}`;
const topicPrefix = `${name}-`;
const topic = `${topicPrefix}executions`;
const partitions = 4;
const rounds = 3;
const recordsEach = 40;

const real = new RealTables(name);
const logs = Array.from({ length: partitions }, (_, partition) => new TradingLog(70 + partition));
let client: LogClient;
const schemas = ownSchemas();
let log: RealLog;
/** Records of each partition. */
let appended = 0;

beforeAll(async () => {
  client = openLogClient({ brokers: [engineUrl('KAFKA')], clientId: name, log: silentLog });
  log = new RealLog(topic, { client, codec: await schemas.codecFor(topics.executions) });
  await log.open(partitions);
}, 120_000);

afterAll(async () => {
  await real.close();
  await client?.close();
}, 30_000);

async function grow(): Promise<void> {
  for (const [partition, one] of logs.entries()) {
    const records = one.records(recordsEach).map((record): Execution => {
      return { ...record, events: record.events.map((event) => ofPartition(event, partition)) };
    });
    await log.append(partition, records);
  }
  appended += recordsEach;
}

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    if (await isSo()) return;
    await wait(50);
  }
  throw new Error('the state was not reached in time');
}

/** The newest owner of each partition; the one before may not have noticed yet. */
const owners = new Map<number, Member>();

/** A member whose inserts wait while they are blocked. */
class Member {
  /** Partitions with inserts that wait. */
  readonly waiting = new Set<number>();
  /** Batches that an earlier owner had left unfinished at the handover. */
  takenOver = 0;
  /** Inserts of partitions that already belonged to another member. */
  late = 0;
  #open: () => void = () => {};
  #gate: Promise<void> = Promise.resolve();
  #running: RunningView | null = null;

  async start(clickhouse: ClickHouse, group: string): Promise<void> {
    const tables = openProjectionTables(clickhouse);
    const metrics = projectorMetrics(openMetrics(group.replaceAll('-', '_')));
    const view = tablesView({
      client,
      topic,
      checksChain: true,
      topicPrefix,
      metrics,
      tables: { ...tables, insert: (rows, token) => this.#insert(tables, rows, token) },
      openCodec: () => schemas.codecFor(topics.executions, reusedEvents),
      catalog: { payout0: async () => 0 },
      groupId: `${topicPrefix}${group}`,
      limits: {
        batchRecords: 7,
        batchRows: 2_000,
        batchMs: 50,
        restMs: 50,
        pauseMaxMs: 0,
        retryForMs: 60_000,
      },
    });
    const fail = (error: unknown) => {
      throw error;
    };
    const progress = new ViewProgress(metrics);
    const host = { client, progress, log: silentLog, instance: '', fail };
    this.#running = await RunningView.start(host, this.#watched(view));
  }

  get owned(): readonly number[] {
    return [...owners].flatMap(([partition, owner]) => (owner === this ? [partition] : []));
  }

  hold(): void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  goOn(): void {
    this.#open();
    this.#gate = Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#running?.close();
  }

  async #insert(
    tables: ProjectionTables,
    rows: Parameters<ProjectionTables['insert']>[0],
    token: string,
  ): Promise<void> {
    const partition = Number(token.split(':')[2]);
    this.waiting.add(partition);
    await this.#gate;
    this.waiting.delete(partition);
    if (owners.get(partition) !== this) this.late += 1;
    await tables.insert(rows, token);
  }

  #watched(view: ViewDefinition): ViewDefinition {
    return {
      ...view,
      assign: async (partition, group) => {
        owners.set(partition, this);
        const begun = await group.committed(partition);
        if ((begun?.metadata ?? '') !== '') this.takenOver += 1;
        return await view.assign(partition, group);
      },
    };
  }
}

async function isComplete(clickhouse: ClickHouse, some: Iterable<number>): Promise<boolean> {
  const tables = openProjectionTables(clickhouse);
  for (const partition of some) if ((await tables.completeTo(partition)) < appended) return false;
  return true;
}

const all = Array.from({ length: partitions }, (_, partition) => partition);

test('partitions handed over with unfinished batches leave every table as a single member does', async () => {
  const handed = await real.fresh();
  let members = [new Member()];
  await members[0]?.start(handed, 'handed');
  const everyone: Member[] = [...members];
  for (let round = 0; round < rounds; round += 1) {
    for (const member of members) member.hold();
    await grow();
    await until(() => all.every((one) => members.some(({ waiting }) => waiting.has(one))));
    const next = new Member();
    everyone.push(next);
    await next.start(handed, 'handed');
    await until(() => next.takenOver > 0);
    // It ends the batches of the others and continues after them, while their inserts still wait.
    await until(() => isComplete(handed, next.owned));
    for (const member of members) member.goOn();
    await until(() => isComplete(handed, all));
    const [oldest, ...others] = [...members, next];
    if (members.length > 1) await oldest?.stop();
    members = members.length > 1 ? others : [...members, next];
  }
  for (const member of members) await member.stop();
  const straight = await real.fresh();
  const alone = new Member();
  await alone.start(straight, 'straight');
  await until(() => isComplete(straight, all));
  await alone.stop();
  const expected = await hashesOf(straight);
  expect(await hashesOf(handed)).toEqual(expected);
  expect(expected['positions']).not.toMatch(/^0 rows/);
  const sum = (count: (member: Member) => number) =>
    everyone.reduce((total, member) => total + count(member), 0);
  expect(sum(({ takenOver }) => takenOver)).toBeGreaterThanOrEqual(rounds);
  expect(sum(({ late }) => late)).toBeGreaterThanOrEqual(rounds);
}, 240_000);
