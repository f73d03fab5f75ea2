import type { FoldedPlace } from '@pm/domain/executions/execution-order';
import type { Position } from '@pm/domain/positions/position';
import { parsePrice } from '@pm/schemas/decimal';
import { parseWalletAddress } from '@pm/schemas/ids';
import { tables } from '@pm/schemas/tables/tables';
import type { ProjectionTables, TablesGuard } from '../../src/tables/projection-tables.io.ts';
import type { TableRows } from '../../src/tables/row-writer.ts';
import type { Candle } from '../../src/views/prices/candles.ts';
import { cellsOf, type Row } from './cells.ts';

const micro = (cell: unknown) => Math.round(Number(cell) * 1e6);
const price = (cell: unknown) => parsePrice(String(cell)) ?? 0;
const ms = (cell: unknown) => Date.parse(`${String(cell).replace(' ', 'T')}Z`);

/** Tables in memory that drop an insert with a known token, as ClickHouse does, whatever its rows are. */
export class FakeTables implements ProjectionTables {
  readonly #rows = new Map<string, Row[]>();
  readonly #tokens = new Set<string>();
  /** Called before and after each insert; throws to simulate a crash or a lost response. */
  onStep: () => void = () => {};

  identity = 'made first';
  isHeld = false;
  serverLife = '1';

  async guard(): Promise<TablesGuard> {
    return { identity: this.identity, isHeld: this.isHeld, serverLife: this.serverLife };
  }

  async insert(rows: TableRows, token: string): Promise<void> {
    this.onStep();
    const { name } = rows.table;
    const stored = this.#rows.get(name) ?? [];
    this.#rows.set(name, stored);
    if (!this.#tokens.has(token)) for (const row of cellsOf(rows)) stored.push(row);
    this.#tokens.add(token);
    this.onStep();
  }

  raw(table: string): readonly Row[] {
    return this.#rows.get(table) ?? [];
  }

  /** All rows of tables of facts, newest rows of tables of state, sorted. */
  final(): ReadonlyMap<string, readonly string[]> {
    const shown = Object.values(tables).map((table) => {
      const versionOf = /\((\w+)/.exec(table.engine)?.[1];
      const at = table.columns.findIndex((column) => column.name === versionOf);
      if (at < 0) return [table.name, this.raw(table.name).map(String).sort()] as const;
      const key = (row: Row) =>
        table.orderBy
          .map((name) => row[table.columns.findIndex((column) => column.name === name)])
          .join(':');
      const newest = new Map<string, Row>();
      for (const row of this.raw(table.name))
        if (Number(row[at]) >= Number(newest.get(key(row))?.[at] ?? -1)) newest.set(key(row), row);
      return [table.name, [...newest.values()].map(String).sort()] as const;
    });
    return new Map(shown);
  }

  /** Simulates a loss of everything. */
  lose(): void {
    this.#rows.clear();
    this.#tokens.clear();
  }

  async completeTo(partition: number): Promise<number> {
    const rows = this.raw('completeness').filter((row) => row[1] === partition);
    return Math.max(0, ...rows.map((row) => Number(row[2])));
  }

  async place(partition: number): Promise<FoldedPlace> {
    const offset = await this.completeTo(partition);
    const rows = this.raw('completeness').filter((row) => row[1] === partition);
    const newest = rows.findLast((row) => Number(row[2]) === offset);
    return { offset, timeMs: newest === undefined ? 0 : ms(newest[4]) };
  }

  async *positions(): AsyncIterable<Position> {
    for (const text of this.final().get('positions') ?? []) yield positionOf(text.split(','));
  }

  async candles(fromMs: number, toMs: number): Promise<readonly Candle[]> {
    const all = (this.final().get('candles_1m') ?? []).map((text) => candleOf(text.split(',')));
    return all.filter(({ bucketMs }) => bucketMs >= fromMs && bucketMs <= toMs);
  }
}

export function positionOf(cells: readonly string[]): Position {
  const wallet = parseWalletAddress(cells[0] ?? '');
  if (wallet === null) throw new Error('no wallet');
  return {
    wallet,
    market: Number(cells[1]),
    outcome: Number(cells[2]),
    sizeMicro: micro(cells[4]),
    costMicro: micro(cells[5]),
    totalBoughtMicro: micro(cells[6]),
    sharesBoughtMicro: micro(cells[7]),
    realizedMicro: micro(cells[8]),
    volumeMicro: micro(cells[9]),
    updatedMs: ms(cells[10]),
    version: Number(cells[11]),
  };
}

export function candleOf(cells: readonly string[]): Candle {
  return {
    market: Number(cells[0]),
    outcome: Number(cells[1]),
    bucketMs: ms(cells[2]),
    open: price(cells[3]),
    high: price(cells[4]),
    low: price(cells[5]),
    close: price(cells[6]),
    volumeMicro: micro(cells[7]),
    notionalMicro: micro(cells[8]),
    trades: Number(cells[9]),
    version: Number(cells[10]),
  };
}
