import { readRange } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRegistry, topicName } from '@pm/kit/registry';
import { tokenIdFromBytes, topics } from '@pm/schemas';
import type { Installation } from '../installation/open.ts';
import { LogAudit } from './log-audit.ts';
import { Moved } from './moved.ts';
import { type AuditedMarket, compareBooks, compareLedger, type Mismatch } from './projections.ts';
import {
  auditPieces,
  eachRecord,
  type LogPiece,
  piecesOf,
  type ReadLogOptions,
  sumTransfers,
} from './read-log.ts';
import { tablesStanding, waitForProjections } from './standing.ts';
import {
  checkPrices,
  compareCandles,
  compareFacts,
  compareHeld,
  compareLevels,
  compareOpenOrders,
  compareSupply,
} from './tables.ts';
import { LogTally } from './tally.ts';

/** One line of the audit; it holds when nothing is wrong. */
export interface AuditCheck {
  readonly name: string;
  readonly wrong: readonly string[];
  /** What was looked at, in words. */
  readonly facts: string;
}

export interface AuditOptions {
  readonly feeWallet: string;
  /** Projections have so long to reach the end that the log has now, milliseconds. */
  readonly waitMs: number;
  onProgress(done: number, records: number): void;
  onCheck(check: AuditCheck): void;
}

/**
 * Audits an installation that may be running: folds the log from its first record to its present end, waits until the projections
 * are as far, reads them, and then looks what moved meanwhile, of which nothing is said. Memory follows what is alive (wallets,
 * resting orders, levels), not the length of the log.
 */
export async function runAudit(
  installation: Installation,
  options: AuditOptions,
): Promise<boolean> {
  let holds = true;
  const check = (name: string, wrong: readonly string[], facts = ''): void => {
    holds &&= wrong.length === 0;
    options.onCheck({ name, wrong, facts });
  };
  const { addresses, client, clickhouse } = installation;
  const log: ReadLogOptions = {
    ...{ client, registryUrl: addresses.registryUrl, topicPrefix: addresses.topicPrefix },
    feeWallet: options.feeWallet,
  };
  const pieces = await piecesOf(log);
  const { audit, tally } = await foldLog(log, pieces, options);
  judgeLog(audit, pieces, check);
  const behind = await waitForProjections(installation, pieces, options.waitMs);
  check('completeness', behind, 'tables, books and ledger have passed the end that the log had');
  check('prices', await checkPrices(clickhouse), 'between 0 and 1 wherever one stands');
  const partitions = pieces.map(({ partition }) => partition);
  const facts = await compareFacts(clickhouse, { audit, tally, partitions });
  check('facts', facts, `${audit.fills} fills, each once; orders, cancels, levels by partition`);
  const { throughS } = await tablesStanding(installation);
  check(
    'candles',
    await compareCandles(clickhouse, throughS),
    'of past minutes: the fills in them',
  );
  const compared = await compareState(installation, log, audit);
  const moved = await movedSince(log, pieces);
  for (const [wallet, micro] of await sumTransfers(log))
    if (compared.deposits.get(wallet) !== micro) moved.wallet(wallet);
  for (const { name, found } of compared.checks) {
    const sorted = moved.sort(found);
    check(name, sorted.wrong, factsOf(sorted.moved));
  }
  return holds;
}

function factsOf(moved: number): string {
  const rule = 'what the log makes of them';
  return moved === 0 ? rule : `${rule}; ${moved} moved while they were read and are not judged`;
}

async function foldLog(
  log: ReadLogOptions,
  pieces: readonly LogPiece[],
  { onProgress }: AuditOptions,
): Promise<{ readonly audit: LogAudit; readonly tally: LogTally }> {
  const audit = new LogAudit(log.feeWallet, { keepsEnded: false });
  const tally = new LogTally();
  const records = pieces.reduce((sum, { from, to }) => sum + to - from, 0);
  let done = 0;
  await auditPieces(log, {
    ...{ audit, pieces },
    onRecord(partition, execution) {
      tally.record(partition, execution);
      done += 1;
      onProgress(done, records);
    },
  });
  audit.finish();
  return { audit, tally };
}

const rules = [
  ['F1', 'log', 'dense, chain unbroken, repetitions byte for byte'],
  ['F2', 'books', 'fills within their orders, levels are the resting orders'],
  ['L1', 'orders', 'placed once, canceled as they rest'],
  ['C1', 'supply', 'tokens of both outcomes and the USDC locked are one number'],
  ['C2', 'money', 'what events say of wallets is what their fills come to'],
] as const;

type Check = (name: string, wrong: readonly string[], facts?: string) => void;

function judgeLog(audit: LogAudit, pieces: readonly LogPiece[], check: Check): void {
  const lost = pieces
    .filter(({ from }) => from > 0)
    .map(({ partition, from }) => `F1 partition ${partition} begins at ${from}`);
  for (const [id, name, facts] of rules) {
    const wrong = audit.violations.filter((one) => one.startsWith(id));
    check(`${name} (${id})`, id === 'F1' ? [...lost, ...wrong] : wrong, facts);
  }
}

interface Compared {
  readonly checks: readonly { readonly name: string; readonly found: readonly Mismatch[] }[];
  readonly deposits: ReadonlyMap<string, number>;
}

/** Whatever shows the present only. */
async function compareState(
  { clickhouse, redis, keys, client, addresses }: Installation,
  log: ReadLogOptions,
  audit: LogAudit,
): Promise<Compared> {
  const deposits = await sumTransfers(log);
  const markets = await marketsOf({ client, addresses });
  const checks = [
    { name: 'positions (P1)', found: await compareHeld(clickhouse, 'positions', audit) },
    { name: 'holders (P1)', found: await compareHeld(clickhouse, 'holders', audit) },
    { name: 'positions = supply = collateral', found: await compareSupply(clickhouse, audit) },
    { name: 'book events (P1)', found: await compareLevels(clickhouse, audit) },
    { name: 'open orders (P1)', found: await compareOpenOrders(clickhouse, audit) },
    { name: 'books in Redis (P2)', found: await compareBooks(redis, keys, { audit, markets }) },
    {
      name: 'ledger (C2)',
      found: await compareLedger(redis, keys, { audit, deposits, isQuiet: false }),
    },
  ];
  return { checks, deposits };
}

/** The markets of the catalog that any record has told of. */
async function marketsOf({
  client,
  addresses,
}: Pick<Installation, 'client' | 'addresses'>): Promise<readonly AuditedMarket[]> {
  const { registryUrl: url, topicPrefix } = addresses;
  const registry = openRegistry({ url, topicPrefix, log: silentLog });
  const codec = await registry.codecFor(topics.catalog);
  const topic = topicName(topics.catalog, topicPrefix);
  const admin = await client.admin();
  const bounds = (await admin.bounds(topic).finally(() => admin.close())).get(0);
  const markets = new Map<number, AuditedMarket>();
  await readRange(client, {
    ...{ topic, partition: 0, dense: false, from: bounds?.low ?? 0, to: bounds?.high ?? 0 },
    onBatch: async ({ records }) => {
      for (const { value } of records) {
        if (value === null) continue;
        if (!codec.knows(value)) await codec.prepare(value);
        const entry = codec.decode(value);
        if (entry.kind !== 'CatalogMarket') continue;
        const tokenIds = [tokenIdFromBytes(entry.token0), tokenIdFromBytes(entry.token1)] as const;
        markets.set(entry.market, { market: entry.market, tokenIds });
      }
    },
  });
  return [...markets.values()];
}

async function movedSince(log: ReadLogOptions, pieces: readonly LogPiece[]): Promise<Moved> {
  const moved = new Moved();
  const ends = new Map((await piecesOf(log)).map(({ partition, to }) => [partition, to]));
  for (const { partition, to } of pieces) {
    const piece = { partition, from: to, to: ends.get(partition) ?? to };
    await eachRecord(log, piece, (execution) => moved.record(execution));
  }
  return moved;
}
