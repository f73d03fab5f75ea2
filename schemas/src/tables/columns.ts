import type { Column } from './create-table.ts';

export const zstd = 'ZSTD(1)';

export const column = (name: string, type: string, comment: string, codec = zstd): Column => ({
  name,
  type,
  comment,
  codec,
});

/** The column with NULL where a row has no true value for it: a blank that is a legal value would be read as one. */
export const nullable = (of: Column): Column => ({ ...of, type: `Nullable(${of.type})` });

/** Every row says which record of the log it comes from. */
const source: readonly Column[] = [
  column('partition', 'UInt16', 'Partition of the topic executions.'),
  column(
    'in_offset',
    'UInt64',
    'Offset of the input record in the topic orders.',
    `Delta, ${zstd}`,
  ),
  column('event_index', 'UInt32', 'Index of the event in the output record.'),
];

const time = column(
  'time',
  "DateTime64(3, 'UTC')",
  'Clock of the partition when it happened, UTC.',
  `Delta, ${zstd}`,
);
const appendedAt = column(
  'appended_at',
  "DateTime64(3, 'UTC')",
  'Time of its record in the topic executions: the wall clock of the matcher that wrote it, UTC.',
  `Delta, ${zstd}`,
);
/** Place and times of a row that is one event of the log. */
export const ofEvent: readonly Column[] = [...source, time, appendedAt];
export const market = column('market', 'UInt32', 'Number of the market, its id in the catalog.');
export const outcome = column('outcome', 'UInt8', 'Token of the pair, 0 or 1.');
export const wallet = column('wallet', 'FixedString(42)', 'Wallet, lower case.');
export const version = column(
  'version',
  'UInt64',
  'in_offset of the last record folded in; the largest counts.',
);

export const price = (name: string, comment: string) =>
  column(name, 'Decimal(9, 4)', `${comment} USDC per share.`);
export const shares = (name: string, comment: string) =>
  column(name, 'Decimal(18, 6)', `${comment} Shares.`);
export const usdc = (name: string, comment: string) =>
  column(name, 'Decimal(18, 6)', `${comment} USDC.`);
export const orderId = (name: string, comment: string) => column(name, 'FixedString(66)', comment);
export const side = (name: string, comment: string) =>
  column(name, "Enum8('BUY' = 0, 'SELL' = 1)", comment);
export const matchType = column(
  'match',
  "Enum8('COMPLEMENTARY' = 0, 'MINT' = 1, 'MERGE' = 2)",
  'Buyer meets seller, two buyers mint a pair, two sellers merge one.',
);
