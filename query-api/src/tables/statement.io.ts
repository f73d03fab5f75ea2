import type { PlacedRow } from '@pm/domain/reading/merge-page';
import type { QueryParameter } from '@pm/kit/clickhouse';
import { type CutoverOffsets, noCutover } from '../recent/recent-log.ts';

/** Conditions of a statement with the parameters that they name: values are never part of a statement's text. */
export class Conditions {
  readonly params: Record<string, QueryParameter>;
  readonly #texts: string[] = [];

  constructor(params: Readonly<Record<string, QueryParameter>> = {}) {
    this.params = { ...params };
  }

  add(text: string, params: Readonly<Record<string, QueryParameter>> = {}): void {
    this.#texts.push(text);
    Object.assign(this.params, params);
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  /** The conditions that follow `WHERE` or `AND`. */
  get text(): string {
    return this.#texts.join(' AND ');
  }
}

/**
 * Rows before the second that a parameter names (UInt32, Unix seconds). The bound has the precision of the column,
 * or ClickHouse leaves out rows of the second before (traps.md).
 */
export function timeBefore(parameter: string): string {
  return `time < toDateTime64({${parameter}:UInt32}, 3)`;
}

/** Which event of the log a row comes from: what makes it one of its kind in a table of happenings. */
export const placeKey = ['partition', 'in_offset', 'event_index'] as const;
/** Columns that identify a row where each side of a fill has a row. */
export const sideKey = [...placeKey, 'role'] as const;

/**
 * The order of rows that are read page by page. The columns must distinguish any two rows: ties come in any order in
 * each statement, so a page may repeat what the last one showed and another row is on none.
 */
export function inOrder(columns: readonly string[], direction: 'ASC' | 'DESC'): string {
  return `ORDER BY ${columns.map((column) => `${column} ${direction}`).join(', ')}`;
}

/** Newest first, ties by the key of the table. */
export function newestFirst(key: readonly string[]): string {
  return inOrder(['time', ...key], 'DESC');
}

const afterPlace =
  '(fromUnixTimestamp64Milli({afterMs:Int64}), {afterPartition:UInt16}, {afterOffset:UInt64}, {afterEvent:UInt32})';
const placeColumns = `(time, ${placeKey.join(', ')})`;

/** Rows of the place that `placeBehind` names. */
export const placeAt = `${placeColumns} = ${afterPlace}`;

/** Rows behind a place in a list that is newest first. */
export function placeBehind(after: PlacedRow): readonly [string, Record<string, QueryParameter>] {
  const params = {
    afterMs: String(after.timeMs),
    afterPartition: after.partition,
    afterOffset: after.inOffset,
    afterEvent: after.eventIndex,
  };
  // The key of a table begins with the time: it finds rows by that alone.
  const text = `time <= fromUnixTimestamp64Milli({afterMs:Int64}) AND ${placeColumns} < ${afterPlace}`;
  return [text, params];
}

/** A row that came again stands twice until ClickHouse has merged it; no batch is repeated under a new token. */
const copies = 2;

/**
 * Rows that hold a page whatever of them is there twice. A query takes so many from the front of the key before it
 * counts each once: `LIMIT BY` alone would make it read on, which costs by the length of the table.
 */
export function windowOf({
  limit,
  offset,
}: {
  readonly limit: number;
  readonly offset: number;
}): number {
  return copies * (offset + limit);
}

/** The condition that excludes records from the cutover on, which memory has; empty when only the tables are read. */
export function beforeCutover(cutover: CutoverOffsets, column: string): string {
  if (!hasCutover(cutover)) return '';
  // A partition that came later has no cutover offset yet.
  const cutoverOffset = '{cutover:Array(UInt64)}';
  return `AND (partition >= length(${cutoverOffset}) OR ${column} < ${cutoverOffset}[partition + 1])`;
}

/** The parameter of `beforeCutover`. */
export function cutoverParams(cutover: CutoverOffsets): Record<string, QueryParameter> {
  return hasCutover(cutover) ? { cutover: [...cutover] } : {};
}

function hasCutover(cutover: CutoverOffsets): boolean {
  return cutover.some((cutoverOffset) => cutoverOffset !== noCutover);
}
