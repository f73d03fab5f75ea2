import { type Static, Type } from 'typebox';

/** HTTP bodies of account actions (conventions.md 4.2). Unknown fields are tolerated and ignored. */
const shared = {
  id: Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{1,255}$',
      description:
        "The caller's name for this request: the same again is carried out once. Required, unless the signature covers an Idempotency-Key.",
    }),
  ),
  wallet: Type.Optional(
    Type.String({
      pattern: '^0x[0-9a-fA-F]{40}$',
      description: 'A wallet of the caller; default the wallet of his key.',
    }),
  ),
};

export const PositionActionBody = Type.Object({
  ...shared,
  condition_id: Type.Optional(Type.String({ maxLength: 66 })),
  conditionId: Type.Optional(Type.String({ maxLength: 66 })),
  amount: Type.Optional(Type.String({ maxLength: 20, description: 'Decimal shares, not JSON.' })),
});
export type PositionActionBody = Static<typeof PositionActionBody>;

export const WithdrawalBody = Type.Object({
  ...shared,
  amount: Type.String({ maxLength: 20, description: 'Decimal USDC.' }),
});
export type WithdrawalBody = Static<typeof WithdrawalBody>;

export const AccountActionResult = Type.Object({
  success: Type.Literal(true),
  action: Type.Union([
    Type.Literal('split'),
    Type.Literal('merge'),
    Type.Literal('redeem'),
    Type.Literal('withdrawal'),
  ]),
  id: Type.String(),
  request_id: Type.String({
    description: '32 bytes that follow from wallet, action, condition, amount and id.',
  }),
  wallet: Type.String(),
  condition_id: Type.Optional(Type.String()),
  amount: Type.Optional(
    Type.String({
      description: 'Decimal shares, as asked; of a withdrawal the USDC that were paid.',
    }),
  ),
  payout: Type.Optional(Type.String({ description: 'Redemptions: decimal USDC paid.' })),
});
export type AccountActionResult = Static<typeof AccountActionResult>;
