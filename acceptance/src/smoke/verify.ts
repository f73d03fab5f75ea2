import { setTimeout as sleep } from 'node:timers/promises';
import { feeWalletOf } from '@pm/deploy/installation/fee-wallet';
import { logPlaceOf } from '@pm/deploy/installation/open';
import { addressesOf } from '@pm/deploy/installation/read-addresses';
import { loopback } from '@pm/deploy/local/ports';
import type { RunningStack } from '@pm/deploy/stack/stack';
import { openClickHouse } from '@pm/kit/clickhouse';
import { clickhouseAccount, kafkaConnection, redisConnection } from '@pm/kit/config';
import { type LogClient, openLogClient, toolLimits } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRedis } from '@pm/kit/redis';
import { topicName } from '@pm/kit/registry';
import { compareBooks, compareLedger, type Mismatch } from '@pm/operate/audit/compare-redis';
import { compareLedgerQuery } from '@pm/operate/audit/ledger-sample';
import { LogAudit } from '@pm/operate/audit/log-audit';
import { LogExpectation } from '@pm/operate/audit/log-expectation';
import { auditPieces, piecesOf, sumTransfers } from '@pm/operate/audit/read-log';
import { compareBuckets, compareFacts, compareMonths } from '@pm/operate/audit/row-tables';
import {
  checkPrices,
  compareHeld,
  compareOpenOrders,
  compareSupply,
} from '@pm/operate/audit/state-tables';
import type { TokenId } from '@pm/schemas/ids';
import { topics } from '@pm/schemas/log/topics';
import { redisKeys } from '@pm/schemas/redis/keys';
import type { RunResult } from './run.ts';
import type { Received } from './trader.ts';
import type { World } from './world.ts';

/** Once orders have stopped, what does not change within this time is final: on a busy machine projections are slow. */
const quietMaxMs = 60_000;

export interface Verdict {
  /** Name of a check -> its problems; empty when it holds. */
  readonly checks: Readonly<Record<string, readonly string[]>>;
  readonly audit: LogAudit;
}

/** Problems that a run reports, and the data that its clients received. */
interface Judged extends Pick<RunResult, 'received' | 'poisonRecords'> {
  readonly streams: Pick<RunResult['streams'], 'expect' | 'compare'>;
  readonly problems: Readonly<Record<string, readonly string[]>>;
}

/** Waits until all records are projected, then compares the log, the projections and the results of clients. */
export async function verifyWorld(world: World, result: Judged): Promise<Verdict> {
  const { stack } = world;
  const addresses = addressesOf(stack.urls, world.accessOf('audit'));
  const kafka = kafkaConnection(addresses);
  const client = openLogClient({
    ...kafka,
    clientId: 'smoke',
    log: silentLog,
    limits: toolLimits,
  });
  const redis = openRedis({ ...redisConnection(addresses), log: silentLog });
  const clickhouse = openClickHouse({
    ...clickhouseAccount(addresses),
    log: silentLog,
  });
  const log = logPlaceOf(client, { ...addresses, rootKey: stack.keys.rootKey });
  try {
    const projections = await waitForProjections(stack, client);
    const audit = new LogAudit(await feeWalletOf(log));
    const says = new LogExpectation(audit);
    const pieces = await piecesOf(log);
    await auditPieces(log, {
      audit,
      pieces,
      onRecord: (partition, record) => {
        says.record(partition, record);
        result.streams.expect(partition, record.execution);
      },
    });
    audit.finish();
    const deposits = await sumTransfers(log);
    const keys = redisKeys(stack.names.redisPrefix);
    const markets = world.markets.map((market) => ({
      market: market.market,
      tokenIds: [market.tokenIds[0] as TokenId, market.tokenIds[1] as TokenId] as const,
    }));
    const checks = {
      ...result.problems,
      log: audit.violations,
      acknowledged: compareReceived(result.received, audit),
      poison: comparePoison(result.poisonRecords, audit.unreadableRecords),
      projections,
      streams: await result.streams.compare(audit),
      books: textsOf(await compareBooks(redis, keys, { audit, markets })),
      // A process that was killed may have reserved for an order that it did not write: the reservation ends with the
      // time in which the order could be booked.
      ledger: textsOf(
        await stays(() => compareLedger(redis, keys, { audit, deposits, isQuiet: true })),
      ),
      rows: [
        ...(await compareFacts(clickhouse, says)),
        ...(await compareBuckets(clickhouse, says)),
      ].flatMap(({ wrong }) => wrong),
      months: await compareMonths(clickhouse),
      prices: await checkPrices(clickhouse),
      tables: textsOf([
        ...(await compareHeld(clickhouse, 'positions', audit)),
        ...(await compareHeld(clickhouse, 'holders', audit)),
        ...(await compareSupply(clickhouse, audit)),
        ...(await compareLedgerQuery(clickhouse, audit.totals.positions, 1)),
        ...(await compareOpenOrders(clickhouse, audit)),
      ]),
    };
    return { checks, audit };
  } finally {
    await Promise.all([client.close(), clickhouse.close()]);
    redis.disconnect();
  }
}

function textsOf(found: readonly Mismatch[]): string[] {
  return found.map(({ text }) => text);
}

/** L1, L2: acknowledged orders are in the log once, refused ones are not in it. */
function compareReceived(received: Received, audit: LogAudit): string[] {
  const wrong: string[] = [];
  for (const id of received.placed) {
    if (!audit.orders.has(id)) wrong.push(`L2 ${id} was acknowledged and is lost`);
  }
  for (const id of received.refused) {
    if (audit.orders.has(id)) wrong.push(`L2 ${id} was refused and is in the book`);
  }
  return wrong;
}

/** Other records may be rejected too: ticks after a stop that took long. */
function comparePoison(written: number, unreadable: number): string[] {
  return written === unreadable ? [] : [`${unreadable} of ${written} poison records were counted`];
}

/** Looks again and again until nothing is found, or the same for `quietMaxMs`; returns what stays. */
async function stays<T>(look: () => Promise<readonly T[]>): Promise<readonly T[]> {
  let waitUntil = performance.now() + quietMaxMs;
  let before = '';
  for (;;) {
    const found = await look();
    if (found.length === 0) return found;
    const now = JSON.stringify(found);
    if (now !== before) waitUntil = performance.now() + quietMaxMs;
    if (performance.now() > waitUntil) return found;
    before = now;
    await sleep(200);
  }
}

interface ViewStatus {
  readonly view: string;
  readonly partition: number;
  readonly position: number;
}

/** Waits until every view of every partition has passed the present end of the log; says what keeps it from that. */
async function waitForProjections(
  { places, names }: RunningStack,
  client: LogClient,
): Promise<readonly string[]> {
  const admin = await client.admin();
  const ends = await admin.bounds(topicName(topics.executions, names.topicPrefix));
  const isLate = (view: ViewStatus) => view.position < (ends.get(view.partition)?.high ?? 0);
  return stays(async () => {
    const asked = places.of('projectors').map(async ({ name, ports }) => {
      const views = await viewStatusAt(ports.projectorsOps);
      if (views.length === 0) return [`${name} tells of no view`];
      return views.filter(isLate).map(lateText);
    });
    return (await Promise.all(asked)).flat();
  });
}

function lateText({ view, partition, position }: ViewStatus): string {
  return `${view} of partition ${partition} stays at ${position}`;
}

/**
 * Offsets of the views of `executions`; `transfers` is another topic with offsets of its own. None from a process that
 * does not respond.
 */
async function viewStatusAt(opsPort: number): Promise<readonly ViewStatus[]> {
  try {
    const response = await fetch(`http://${loopback}:${opsPort}/status`);
    const { views } = (await response.json()) as { views: Record<string, ViewStatus[]> };
    return Object.entries(views)
      .filter(([view]) => view !== 'transfers')
      .flatMap(([view, partitions]) => partitions.map((one) => ({ ...one, view })));
  } catch {
    return [];
  }
}
