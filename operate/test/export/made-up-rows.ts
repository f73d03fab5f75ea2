import type { ClickHouse } from '@pm/kit/clickhouse';
import {
  type Column,
  columnNames,
  isNullable,
  type Table,
  valueType,
} from '@pm/schemas/tables/create-table';

/** Generated rows of any table: all different, every key once, in the order of time. */
export interface MadeUp {
  /** Unix milliseconds of the first moment. */
  readonly fromMs: number;
  /** Rows, spread evenly over `spreadMs`. */
  readonly rows: number;
  readonly spreadMs: number;
  /** Offset of the numbers that make rows differ. */
  readonly shift: number;
}

const byName: Readonly<Record<string, string>> = {
  partition: 'n % 3',
  ended: '0',
  span: "'hour'",
  projection: "'made up'",
  ask: "toDecimal32('0.9999', 4)",
};

const text = "['', 'USER', 'it''s; \"ö\" \\\\ \\n'][n % 3 + 1]";

function cellOf(column: Column, madeUp: MadeUp): string {
  const value = valueSql(column.name, valueType(column), madeUp);
  return isNullable(column) ? `if(n % 5 = 4, NULL, ${value})` : value;
}

function valueSql(name: string, type: string, { fromMs, spreadMs, rows }: MadeUp): string {
  const named = byName[name];
  if (named !== undefined) return named;
  const moment = `fromUnixTimestamp64Milli(toInt64(${fromMs} + intDiv(number * ${spreadMs}, ${rows})), 'UTC')`;
  if (type.startsWith('DateTime64')) return moment;
  if (type.startsWith('DateTime')) return `toDateTime(${moment}, 'UTC')`;
  const length = /^FixedString\((\d+)\)$/.exec(type)?.[1];
  if (length !== undefined)
    return `concat('0x', leftPad(lower(hex(n * 7919)), ${Number(length) - 2}, '0'))`;
  const decimal = /^Decimal\(\d+, (\d)\)$/.exec(type)?.[1];
  if (decimal !== undefined) return `toDecimal64(n % 9973, 0) / exp10(${decimal})`;
  const symbols = type.match(/'\w+' = \d+/g)?.length;
  if (symbols !== undefined)
    return `CAST(toInt8(n % ${symbols}), '${type.replaceAll("'", "\\'")}')`;
  if (type.endsWith('String)')) return text;
  const bits = /^UInt(\d+)$/.exec(type)?.[1];
  if (bits !== undefined) return bits === '8' ? 'n % 2' : 'n';
  throw new Error(`${name} ${type} needs a value`);
}

/** Inserts generated rows twice, like a batch that is sent again after a crash. */
export async function insertMadeUp(
  clickhouse: Pick<ClickHouse, 'command'>,
  table: Table,
  madeUp: MadeUp,
): Promise<void> {
  const values = table.columns.map((column) => cellOf(column, madeUp));
  const columns = columnNames(table).join(', ');
  for (let time = 0; time < 2; time += 1)
    await clickhouse.command(
      `INSERT INTO ${table.name} (${columns}) SELECT ${values.join(', ')}
       FROM (SELECT number, number + ${madeUp.shift} AS n FROM numbers(${madeUp.rows}))
       SETTINGS insert_deduplicate = 0`,
    );
}
