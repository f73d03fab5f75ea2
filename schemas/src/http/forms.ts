import { type Static, Type } from 'typebox';

/** Forms of single values that bodies and parameters share. Examples are those of one market throughout. */
export const sample = {
  token: '52114319501245915516055106046884209969926127482827954674443846427813813222426',
  otherToken: '71321045679252212594626385532706912750332728571942532289631379312455583992563',
  condition: '0x5f65177b394277fd294cd75650044e32ba009a95022d88a0c1d565897d72f8f1',
  wallet: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
  order: '0x9a2c8d3f6f7a1c0de4d7f3a3b1c5e8a7d6f0b9c8e7a6d5c4b3a2918070615243',
  apiKey: '6f1c5a9e-3b7d-4c21-9f0e-8a2b4d6c7e10',
  dateTime: '2026-06-01T12:00:00.000Z',
  seconds: 1_780_315_200,
  signature: `0x${'1b'.repeat(65)}`,
} as const;

export const text = Type.String();
export const flag = Type.Boolean();
export const number = Type.Number();
export const count = Type.Integer({ minimum: 0 });
export const outcomeIndex = Type.Integer({ minimum: 0, maximum: 1 });
export const dateTime = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  description: 'ISO 8601, milliseconds, UTC.',
  examples: [sample.dateTime],
});
export const decimal = Type.String({
  pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$',
  description: 'Plain decimal without exponent and trailing zeros.',
  examples: ['0.52'],
});
export const seconds = Type.Integer({
  minimum: 0,
  description: 'Unix seconds.',
  examples: [sample.seconds],
});
export const secondsText = Type.String({
  pattern: '^[0-9]+$',
  description: 'Unix seconds.',
  examples: [String(sample.seconds)],
});
export const conditionId = Type.String({
  pattern: '^0x[0-9a-fA-F]{64}$',
  description: 'Condition id of a market.',
  examples: [sample.condition],
});
export const tokenId = Type.String({
  pattern: '^(0|[1-9][0-9]{0,77})$',
  description: 'Token id: an outcome of a market.',
  examples: [sample.token],
});
export const address = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: 'Address of a wallet.',
  examples: [sample.wallet],
});
export const orderId = Type.String({
  pattern: '^0x[0-9a-fA-F]{64}$',
  description: 'Order id: the hash of the order.',
  examples: [sample.order],
});
/** The name of a resting order in public books. */
export const orderName = Type.String({
  pattern: '^[0-9a-f]{16}$',
  description: 'Names the order while it rests, in this market; means nothing elsewhere.',
  examples: ['9f2b6d4c81e7a053'],
});
export const uuid = Type.String({
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
  examples: [sample.apiKey],
});
export const buySell = Type.Enum(['BUY', 'SELL']);
export const orNull = <const T extends Type.TSchema>(value: T) => Type.Union([value, Type.Null()]);

/** A place in the log; in the stream protocol one of the forms of `from`. */
export const LogPosition = Type.Object({
  partition: Type.Integer({ minimum: 0, maximum: 65_535, examples: [3] }),
  offset: Type.Integer({
    minimum: -1,
    description: 'Input offset of the newest record that counts; -1 before the first.',
    examples: [48_211],
  }),
});
export type LogPosition = Static<typeof LogPosition>;

/** A page of a list with a cursor (conventions.md 1.2). */
export const pageOf = <const T extends Type.TSchema>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    next_cursor: Type.String({
      minLength: 1,
      description: '"LTE=" after the last page.',
      examples: ['LTE='],
    }),
    limit: Type.Integer({ examples: [500] }),
    count: Type.Integer({ examples: [1] }),
  });

/** A page of a list of the caller's own (conventions.md 1.4). */
export const ownPageOf = <const T extends Type.TSchema>(item: T) =>
  Type.Object({
    ...pageOf(item).properties,
    as_of: Type.Array(LogPosition, {
      description:
        'The place in each partition that the rows are true for: `from` of the channel `own`. Missing where it is not known.',
    }),
  });
