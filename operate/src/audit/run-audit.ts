import { readCompleteness } from '@pm/deploy/installation/completeness';
import { feeWalletOf, type LogPlace } from '@pm/deploy/installation/fee-wallet';
import type { Installation } from '@pm/deploy/installation/open';
import { CompletenessCheck } from './completeness.ts';
import { judgeState, notJudged } from './judge-state.ts';
import { LogAudit } from './log-audit.ts';
import { LogExpectation } from './log-expectation.ts';
import { OwnerSeals } from './owner-seals.ts';
import { waitForProjections } from './progress.ts';
import { auditPieces, type LogPiece, piecesOf } from './read-log.ts';
import { compareBuckets, compareFacts, compareMonths, type TableResult } from './row-tables.ts';
import { checkSeals } from './seals.ts';
import { checkPrices } from './state-tables.ts';

/** One line of the audit; it holds when nothing is wrong. */
export interface AuditCheck {
  readonly name: string;
  readonly wrong: readonly string[];
  /** Description of the comparison. */
  readonly facts: string;
  /** Findings that break nothing. */
  readonly notes?: readonly string[];
}

export interface AuditOptions {
  /** Time for projections to reach the present end of the log, milliseconds. */
  readonly waitMs: number;
  /** Chooses the wallets whose ledgers are folded by the documented query. */
  readonly seed: number;
  onProgress(done: number, records: number): void;
  onCheck(check: AuditCheck): void;
}

type Check = (name: string, wrong: readonly string[], facts?: string) => void;

/**
 * Audits an installation that may be running: folds the log from its first record to its present end, waits until the
 * projections are as far, and compares; projections that do not get there in time are reported and not compared. State
 * is read first, and then the records since, whose subjects are not judged; facts are bounded by the log that was read.
 * Memory follows the state (wallets, their positions, resting orders, levels), not the length of the log.
 */
export async function runAudit(
  installation: Installation,
  options: AuditOptions,
): Promise<boolean> {
  let holds = true;
  const check: Check = (name, wrong, facts = '') => {
    holds &&= wrong.length === 0;
    options.onCheck({ name, wrong, facts });
  };
  const { addresses, client, clickhouse } = installation;
  const log = { client, schemas: installation.schemas, topicPrefix: addresses.topicPrefix };
  const complete = await readCompleteness(clickhouse, addresses.clickhouseDatabase);
  const seals = new OwnerSeals();
  const folded = await foldLog(log, new CompletenessCheck(complete), seals, options);
  const { expected, pieces } = folded;
  judgeLog(expected.audit, pieces, check);
  check(
    'seals of owners (F1)',
    await seals.wrong(installation),
    'the end of each partition is theirs',
  );
  const { records, unproven } = await checkSeals(installation);
  options.onCheck({
    name: 'seals',
    wrong: [],
    facts: `${records} records of sealed topics, ${unproven.length} not proved and without effect`,
    notes: unproven,
  });
  const late = await waitForProjections(installation, pieces, options.waitMs);
  const wrong = [...late.map(({ text }) => text), ...folded.completeness];
  check('completeness', wrong, 'tables, books and ledger have passed the end that the log had');
  // State that is not complete yet would be reported as missing; complete tables are judged all the same.
  if (late.some(({ name }) => name === 'tables')) return false;
  if (late.length === 0)
    await judgeState(
      installation,
      { log, audit: expected.audit, pieces, seed: options.seed },
      check,
    );
  check('prices', await checkPrices(clickhouse), 'between 0 and 1 in every table');
  for (const verdict of await compareFacts(clickhouse, expected)) checkTable(verdict, check);
  for (const verdict of await compareBuckets(clickhouse, expected)) checkTable(verdict, check);
  check('months of book_closings', await compareMonths(clickhouse), 'the last of their hours');
  return holds;
}

function checkTable({ table, wrong, rows, changed }: TableResult, check: Check): void {
  const left = changed === 0 ? '' : `; ${notJudged(changed)}`;
  check(`${table} (P1)`, wrong, `${rows} rows, every column${left}`);
}

/** After a fold of at most so many records the log counts as read to its end. */
const nearRecords = 1_000;

interface Folded {
  readonly expected: LogExpectation;
  /** The log that was read. */
  readonly pieces: readonly LogPiece[];
  /** Problems of the rows of table `completeness`. */
  readonly completeness: readonly string[];
}

/** Folds the log, then the records since, while they become fewer: the fewer change while state is read. */
async function foldLog(
  log: LogPlace,
  completeness: CompletenessCheck,
  seals: OwnerSeals,
  { onProgress }: AuditOptions,
): Promise<Folded> {
  const expected = new LogExpectation(new LogAudit(await feeWalletOf(log), { keepsEnded: false }));
  const chains = new Map<number, Buffer>();
  let done = 0;
  let read: readonly LogPiece[] = [];
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const all = await piecesOf(log);
    const pieces = all.map((piece) => ({ ...piece, from: endOf(read, piece.partition, piece) }));
    const records = pieces.reduce((sum, { from, to }) => sum + to - from, 0);
    const due = done + records;
    await auditPieces(log, {
      audit: expected.audit,
      pieces,
      chains,
      seals,
      onRecord(partition, record, offset) {
        expected.record(partition, record);
        completeness.record(partition, record.execution, offset);
        done += 1;
        onProgress(done, due);
      },
    });
    read = all;
    // The end of a log that grows as fast as it is read is never reached.
    if (records <= nearRecords || records > before / 2) break;
    before = records;
  }
  expected.audit.finish();
  const wrong = completeness.wrong((partition) => endOf(read, partition, { from: 0 }));
  return { expected, pieces: read, completeness: wrong };
}

function endOf(
  read: readonly LogPiece[],
  partition: number,
  { from }: Pick<LogPiece, 'from'>,
): number {
  return read.find((piece) => piece.partition === partition)?.to ?? from;
}

const rules = [
  ['F1', 'log', 'dense, chain unbroken, repetitions byte for byte'],
  [
    'F2',
    'books',
    'fills within their orders, levels are the resting orders, best prices are theirs',
  ],
  ['L1', 'orders', 'placed once, canceled as they rest'],
  ['C1', 'supply', 'tokens of both outcomes and locked USDC are equal'],
  ['C2', 'money', 'money of wallets by events equals that by fills'],
] as const;

function judgeLog(audit: LogAudit, pieces: readonly LogPiece[], check: Check): void {
  const lost = pieces
    .filter(({ from }) => from > 0)
    .map(({ partition, from }) => `F1 partition ${partition} begins at ${from}`);
  for (const [id, name, facts] of rules) {
    const wrong = audit.violations.filter((one) => one.startsWith(id));
    check(`${name} (${id})`, id === 'F1' ? [...lost, ...wrong] : wrong, facts);
  }
}
