import type { LogPlace } from '@pm/deploy/installation/fee-wallet';
import type { Installation } from '@pm/deploy/installation/open';
import { readRange } from '@pm/kit/kafka';
import { topicName } from '@pm/kit/registry';
import { tokenIdFromBytes } from '@pm/schemas/ids';
import { topics } from '@pm/schemas/log/topics';
import { ChangedSubjects } from './changed-subjects.ts';
import { type AuditedMarket, compareBooks, compareLedger, type Mismatch } from './compare-redis.ts';
import { compareLedgerQuery, sampleText } from './ledger-sample.ts';
import type { LogAudit } from './log-audit.ts';
import { eachRecord, type LogPiece, piecesOf, sumTransfers } from './read-log.ts';
import { compareHeld, compareOpenOrders, compareSupply } from './state-tables.ts';

/** Reports one check; it holds when nothing is wrong. */
type Report = (name: string, wrong: readonly string[], facts: string) => void;

export interface Judged {
  readonly log: LogPlace;
  readonly audit: LogAudit;
  /** The log that was read. */
  readonly pieces: readonly LogPiece[];
  readonly seed: number;
}

interface StateCheck {
  readonly name: string;
  readonly found: readonly Mismatch[];
  readonly facts: string;
}

/** Compares state, which shows the present only, and then leaves out what changed while it was read. */
export async function judgeState(
  installation: Installation,
  { log, audit, pieces, seed }: Judged,
  report: Report,
): Promise<void> {
  const deposits = await sumTransfers(log);
  const checks = await compareState(installation, { audit, deposits, seed });
  const changed = await changedSince(log, pieces);
  for (const [wallet, micro] of await sumTransfers(log))
    if (deposits.get(wallet) !== micro) changed.wallet(wallet);
  for (const { name, found, facts } of checks) {
    const sorted = changed.sort(found);
    report(
      name,
      sorted.wrong,
      sorted.changed === 0 ? facts : `${facts}; ${notJudged(sorted.changed)}`,
    );
  }
}

export function notJudged(changed: number): string {
  return `${changed} changed while they were read and are not judged`;
}

async function compareState(
  { clickhouse, redis, keys, client, schemas, addresses }: Installation,
  expected: {
    readonly audit: LogAudit;
    readonly deposits: ReadonlyMap<string, number>;
    readonly seed: number;
  },
): Promise<readonly StateCheck[]> {
  const { audit, seed } = expected;
  const { positions } = audit.totals;
  const markets = await marketsOf({ client, schemas, addresses });
  const rows = `${positions.count} rows, every column`;
  const [books, ledger] = ['the levels of the log, hashes right', 'deposits and the log'];
  return [
    {
      name: 'positions (P1)',
      facts: rows,
      found: await compareHeld(clickhouse, 'positions', audit),
    },
    {
      name: 'holders (P1)',
      facts: rows,
      found: await compareHeld(clickhouse, 'holders', audit),
    },
    {
      name: 'positions = supply = collateral',
      facts: 'by market',
      found: await compareSupply(clickhouse, audit),
    },
    {
      name: 'ledger query (P1)',
      facts: sampleText(positions, seed),
      found: await compareLedgerQuery(clickhouse, positions, seed),
    },
    {
      name: 'open_orders (P1)',
      facts: `${restingIn(audit)} rows, every column`,
      found: await compareOpenOrders(clickhouse, audit),
    },
    {
      name: 'books in Redis (P2)',
      facts: books,
      found: await compareBooks(redis, keys, { audit, markets }),
    },
    {
      name: 'ledger (C2)',
      facts: ledger,
      found: await compareLedger(redis, keys, { ...expected, isQuiet: false }),
    },
  ];
}

function restingIn({ orders }: LogAudit): number {
  return [...orders.values()].filter(({ restingMicro }) => restingMicro > 0).length;
}

/** All listed markets of the catalog topic. */
async function marketsOf({
  client,
  schemas,
  addresses,
}: Pick<Installation, 'client' | 'schemas' | 'addresses'>): Promise<readonly AuditedMarket[]> {
  const { topicPrefix } = addresses;
  const codec = await schemas.codecFor(topics.catalog);
  const topic = topicName(topics.catalog, topicPrefix);
  const admin = await client.admin();
  const bounds = (await admin.bounds(topic).finally(() => admin.close())).get(0);
  const markets = new Map<number, AuditedMarket>();
  await readRange(client, {
    topic,
    partition: 0,
    dense: false,
    from: bounds?.low ?? 0,
    to: bounds?.high ?? 0,
    onBatch: async ({ records }) => {
      for (const { value } of records) {
        if (value === null) continue;
        if (!codec.knows(value)) await codec.prepare(value);
        const entry = codec.decode(value);
        if (entry.kind !== 'CatalogMarket' || !entry.listed) continue;
        const tokenIds = [tokenIdFromBytes(entry.token0), tokenIdFromBytes(entry.token1)] as const;
        markets.set(entry.market, { market: entry.market, tokenIds });
      }
    },
  });
  return [...markets.values()];
}

async function changedSince(log: LogPlace, pieces: readonly LogPiece[]): Promise<ChangedSubjects> {
  const changed = new ChangedSubjects();
  const ends = new Map((await piecesOf(log)).map(({ partition, to }) => [partition, to]));
  for (const { partition, to } of pieces) {
    const piece = { partition, from: to, to: ends.get(partition) ?? to };
    await eachRecord(log, piece, (execution) => changed.record(execution));
  }
  return changed;
}
