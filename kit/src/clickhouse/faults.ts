import { ClickHouseError } from '@clickhouse/client';
import { Fault, type FaultReaction } from '../fault/index.ts';

/**
 * Transient error codes of the server (ClickHouse, src/Common/ErrorCodes.cpp): timeouts, load, memory, read-only
 * tables, too many parts, an insert of unknown outcome (the token makes it harmless), Keeper.
 */
const passing = new Set([
  159, 202, 203, 209, 210, 241, 242, 252, 279, 285, 319, 394, 425, 439, 999,
]);

/** Error codes of wrong rows: the statement is valid, but this batch is never accepted. */
const badRows = new Set([6, 26, 27, 38, 41, 53, 69, 70, 72, 117, 131, 321, 349, 467, 469, 691]);

/**
 * A failed statement as a `Fault`: `clickhouse_unavailable` (retry) without an answer,
 * `clickhouse_busy` (retry), `clickhouse_bad_rows` (skip), `clickhouse_refused` (stop: syntax, unknown tables or
 * settings, missing rights). Facts carry code and type only: messages quote data.
 */
export function clickhouseFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (!(error instanceof ClickHouseError)) {
    return new Fault('clickhouse_unavailable', 'retry', { cause: error });
  }
  const number = Number(error.code);
  const [code, reaction] = judged(number);
  const facts = { number, type: error.type ?? 'unknown' };
  return new Fault(code, reaction, { facts, cause: error });
}

function judged(number: number): readonly [string, FaultReaction] {
  if (passing.has(number)) return ['clickhouse_busy', 'retry'];
  if (badRows.has(number)) return ['clickhouse_bad_rows', 'skip'];
  return ['clickhouse_refused', 'stop'];
}
