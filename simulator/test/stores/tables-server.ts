import type { FoldedPlace } from '@pm/domain/executions/execution-order';
import type { Position } from '@pm/domain/positions/position';
import { Fault } from '@pm/kit/fault';
import { tables } from '@pm/schemas/tables/tables';
import type {
  ProjectionTables,
  TablesGuard,
} from '../../../projectors/src/tables/projection-tables.io.ts';
import type { TableRows } from '../../../projectors/src/tables/row-writer.ts';
import type { Candle } from '../../../projectors/src/views/prices/candles.ts';
import { cellsOf, type Row, textOf } from '../../../projectors/test/tables/cells.ts';
import { candleOf, positionOf } from '../../../projectors/test/tables/fake-tables.ts';
import type { Defects } from '../defects.ts';
import type { Machine } from '../time/machine.ts';

/** The tables whose rows are read back, with the columns of their key and their version. */
const stateTables = new Map(
  Object.values(tables).flatMap((table) => {
    const versionOf = /\((\w+)/.exec(table.engine)?.[1];
    const columnOf = (name: string) => table.columns.findIndex((column) => column.name === name);
    const version = columnOf(versionOf ?? '');
    return version < 0
      ? []
      : [[table.name, { version, key: table.orderBy.map(columnOf) }] as const];
  }),
);

interface Contents {
  readonly tokens: Set<string>;
  /** How often rows of tables of facts were inserted in each life of the server, by table. */
  readonly facts: Map<string, Map<string, number[]>>;
  /** Newest rows of tables of state, by table and key. */
  readonly state: Map<string, Map<string, Row>>;
}

const partitionCell = 3;

/**
 * A ClickHouse in memory: an insert with a known token changes nothing, of state the newest version counts, and equal
 * rows of facts that were inserted in several lives of the server are one.
 */
export class TablesServer {
  isAway = false;
  /** The next insert writes its token and no rows, and the server dies. */
  diesInInsert = false;
  #lives = 0;
  repeatedInserts = 0;
  readonly #defects: Defects;
  readonly #contents: Contents = { tokens: new Set(), facts: new Map(), state: new Map() };

  constructor(defects: Defects) {
    this.#defects = defects;
  }

  /** The tables as code of a machine uses them. */
  client(machine: Machine): ProjectionTables {
    const late = () => new Fault('clickhouse_unavailable', 'retry');
    const ask = <T>(run: () => T) =>
      machine.request<T>({ timeoutMs: 3_000, late }, (answer) => {
        if (!this.isAway) answer.resolve(run());
      });
    const positions = () => ask(() => this.#state('positions'));
    return {
      guard: () => ask(() => this.#guard()),
      insert: (rows, token) =>
        machine.request<void>({ timeoutMs: 3_000, late }, (answer) => {
          if (this.isAway) return;
          const isAnswered = !this.diesInInsert;
          this.insert(rows, token);
          if (isAnswered) answer.resolve();
        }),
      completeTo: (partition) => ask(() => this.completeTo(partition)),
      place: (partition) => ask(() => this.#place(partition)),
      async *positions(partition) {
        for (const row of await positions())
          if (Number(row[partitionCell]) === partition) yield positionOf(textsOf(row));
      },
      candles: (fromMs, toMs) => ask(() => this.#candles(fromMs, toMs)),
    };
  }

  /** The tables without a network, for the judge. */
  get local(): ProjectionTables {
    const positions = () => this.#state('positions');
    return {
      guard: async () => this.#guard(),
      insert: async (rows, token) => this.insert(rows, token),
      completeTo: async (partition) => this.completeTo(partition),
      place: async (partition) => this.#place(partition),
      async *positions(partition): AsyncIterable<Position> {
        for (const row of positions())
          if (Number(row[partitionCell]) === partition) yield positionOf(textsOf(row));
      },
      candles: async (fromMs, toMs) => this.#candles(fromMs, toMs),
    };
  }

  insert(rows: TableRows, token: string): void {
    const { tokens, facts } = this.#contents;
    if (tokens.has(token)) {
      this.repeatedInserts += 1;
      if (!this.#defects.has('an insert that is repeated counts twice')) return;
    }
    tokens.add(token);
    if (this.diesInInsert) {
      this.die();
      return;
    }
    const { name } = rows.table;
    if (stateTables.has(name)) {
      this.#insertState(rows);
      return;
    }
    const lines = facts.get(name) ?? new Map<string, number[]>();
    facts.set(name, lines);
    for (const line of textOf(rows).split('\n')) {
      if (line === '') continue;
      const counts = lines.get(line) ?? [];
      counts[this.#lives] = (counts[this.#lives] ?? 0) + 1;
      lines.set(line, counts);
    }
  }

  /** It is away, and has another life when it is back. */
  die(): void {
    this.diesInInsert = false;
    this.isAway = true;
    this.#lives += 1;
  }

  #guard(): TablesGuard {
    return { identity: 'tables', isHeld: false, serverLife: String(this.#lives) };
  }

  #insertState(rows: TableRows): void {
    const { state } = this.#contents;
    const { name } = rows.table;
    const versioned = stateTables.get(name) as { version: number; key: readonly number[] };
    const newest = state.get(name) ?? new Map<string, Row>();
    state.set(name, newest);
    for (const row of cellsOf(rows)) {
      const key = versioned.key.map((at) => row[at]).join(':');
      const known = newest.get(key);
      const isNewer = Number(row[versioned.version]) >= Number(known?.[versioned.version] ?? -1);
      if (known === undefined || isNewer) newest.set(key, row);
    }
  }

  completeTo(partition: number): number {
    const rows = this.#state('completeness').filter((row) => Number(row[1]) === partition);
    return Math.max(0, ...rows.map((row) => Number(row[2])));
  }

  #place(partition: number): FoldedPlace {
    const offset = this.completeTo(partition);
    const rows = this.#state('completeness').filter((row) => Number(row[1]) === partition);
    const row = rows.find((one) => Number(one[2]) === offset);
    const timeMs = row === undefined ? 0 : Date.parse(`${String(row[4]).replace(' ', 'T')}Z`);
    return { offset, timeMs };
  }

  /** Every row that counts, by table, sorted. */
  contents(): ReadonlyMap<string, readonly string[]> {
    const { facts, state } = this.#contents;
    const all = new Map<string, readonly string[]>();
    for (const [name, lines] of facts) all.set(name, [...lines].flatMap(repeated).sort());
    for (const [name, rows] of state) all.set(name, [...rows.values()].map(String).sort());
    return all;
  }

  #state(name: string): readonly Row[] {
    return [...(this.#contents.state.get(name)?.values() ?? [])];
  }

  #candles(fromMs: number, toMs: number): readonly Candle[] {
    const all = this.#state('candles_1m').map((row) => candleOf(textsOf(row)));
    return all.filter(({ bucketMs }) => bucketMs >= fromMs && bucketMs <= toMs);
  }
}

/** A line as often as it was inserted in one life. */
const repeated = ([line, counts]: readonly [string, readonly number[]]): string[] =>
  Array.from({ length: Math.max(...Object.values(counts)) }, () => line);

const textsOf = (row: Row): string[] => row.map(String);
