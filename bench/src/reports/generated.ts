import type { ClickHouse } from '@pm/kit/clickhouse';
import { createTableSql, leaderboardTables, tables } from '@pm/schemas';

/** Wallets and markets of the generated history; few have most of the trades. */
export const walletsMade = 200_000;
export const marketsMade = 5_000;
const builders = 50;
const days = 90;

/** A number in [0, 1) that follows from the row and a salt. */
const uniform = (salt: number): string => `(cityHash64(number, ${salt}) / 18446744073709551616)`;
const skewed = (salt: number, count: number): string =>
  `toUInt32(1 + floor(pow(${uniform(salt)}, 3) * ${count}))`;
const walletText = (number: string): string =>
  `concat('0x', leftPad(lower(hex(toUInt32(${number}))), 40, '0'))`;
const outcome = `toUInt8(${uniform(3)} < 0.5)`;
const price = `toDecimal32(0.01 + floor(${uniform(4)} * 98) / 100, 4)`;
const shares = `toDecimal64(1 + floor(${uniform(5)} * 500), 6)`;

/** The wallet of a rank; 1 trades most. */
export function walletOf(rank: number): string {
  return `0x${rank.toString(16).padStart(40, '0')}`;
}

/** Statements that fill the tables with what so many fills in 90 days before `now` (Unix seconds) come to. */
function statements(fills: number): readonly string[] {
  const held = Math.floor(fills * 0.7);
  const attributed = Math.floor(fills * 0.4);
  const minutes = Math.floor(fills * 0.9);
  // In the order of the rows, as a log is.
  const time = (rows: number): string =>
    `fromUnixTimestamp64Milli(toInt64(({now:UInt32} - ${days * 86_400}) * 1000 + number * ${(days * 86_400_000) / rows}))`;
  const position = `${walletText(skewed(1, walletsMade))}, ${skewed(2, marketsMade)}, ${outcome}, ${shares},
    toDecimal64(5, 6), toDecimal64(9, 6), toDecimal64(1, 6), 1`;
  return [
    `INSERT INTO ${tables.positions.name} (wallet, market, outcome, size, cost, total_bought, realized_pnl, version,
      volume, shares_bought, partition, updated)
     SELECT ${position}, toDecimal64(9, 6), toDecimal64(12, 6), 0, fromUnixTimestamp({now:UInt32})
     FROM numbers(${held})`,
    `INSERT INTO ${tables.holders.name} (wallet, market, outcome, size, cost, total_bought, realized_pnl, version)
     SELECT ${position} FROM numbers(${held})`,
    `INSERT INTO ${tables.midpoints.name} (market, bucket, midpoint, version)
     SELECT ${skewed(2, marketsMade)}, toStartOfMinute(toDateTime(${time(minutes)})), toDecimal64(0.01 + ${uniform(6)} * 0.9, 6), number
     FROM numbers(${minutes})`,
    `INSERT INTO ${tables.builderFills.name} (in_offset, event_index, time, market, size, taker, taker_outcome, taker_price,
      maker, maker_outcome, maker_price, role, builder, taker_order, maker_order)
     SELECT number, 0, ${time(attributed)}, ${skewed(2, marketsMade)}, ${shares}, ${walletText(skewed(1, walletsMade))}, ${outcome}, ${price},
      ${walletText(skewed(7, walletsMade))}, ${outcome}, ${price}, 'TAKER',
      concat('0x', leftPad(toString(toUInt32(${uniform(8)} * ${builders})), 64, '0')),
      concat('0x', lower(hex(sipHash128(number))), lower(hex(sipHash128(number, 1)))),
      concat('0x', lower(hex(sipHash128(number, 2))), lower(hex(sipHash128(number, 3))))
     FROM numbers(${attributed})`,
    ...(['TAKER', 'MAKER'] as const).map(
      (
        role,
        salt,
      ) => `INSERT INTO ${tables.walletFills.name} (in_offset, event_index, time, wallet, role, market, outcome, side, price, size)
     SELECT number, 0, ${time(fills)}, ${walletText(skewed(10 + salt, walletsMade))}, '${role}', ${skewed(2, marketsMade)}, ${outcome},
      if(${uniform(9)} < 0.5, 'BUY', 'SELL'), ${price}, ${shares}
     FROM numbers(${fills})`,
    ),
    // The bound of the leaderboards: all fills count as folded into positions.
    `INSERT INTO ${tables.positions.name} (wallet, market, outcome, version) SELECT '${walletOf(0)}', 1, 0, ${fills}`,
  ];
}

/** Makes the tables in an empty database and fills them; a table of ten million rows takes about ten seconds on two cores. */
export async function fillTables(
  clickhouse: Pick<ClickHouse, 'command'>,
  database: string,
  { fills, nowS }: { readonly fills: number; readonly nowS: number },
): Promise<void> {
  const made = [...Object.values(tables), ...Object.values(leaderboardTables)];
  for (const table of made) await clickhouse.command(createTableSql(table, database));
  for (const sql of statements(fills)) await clickhouse.command(sql, { now: nowS });
}
