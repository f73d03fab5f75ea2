import { type Static, Type } from 'typebox';
import { conditionId } from './forms.ts';

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

/** Fields of a split, merge or redemption that ingress reads before it says which error they have. */
export const PositionActionForm = Type.Object({
  ...shared,
  condition_id: Type.Optional(Type.String({ maxLength: 66 })),
  conditionId: Type.Optional(Type.String({ maxLength: 66 })),
  amount: Type.Optional(Type.String({ maxLength: 20 })),
});
export type PositionActionForm = Static<typeof PositionActionForm>;

const pairs = {
  amount: Type.String({
    pattern: '^(0|[1-9][0-9]{0,7})(\\.[0-9]{1,2}0{0,4})?$',
    description: 'Decimal shares in steps of 0.01, above 0 and at most 10,000,000.',
  }),
};
const spellings = [{ condition_id: conditionId }, { conditionId }] as const;

/** POST /account/split and /account/merge: the condition in either spelling. */
export const PositionActionBody = Type.Union(
  spellings.map((condition) => Type.Object({ ...shared, ...condition, ...pairs })),
);

/** POST /account/redeem: all free tokens, so there is no amount. */
export const RedemptionBody = Type.Union(
  spellings.map((condition) => Type.Object({ ...shared, ...condition })),
);

export const WithdrawalBody = Type.Object({
  ...shared,
  amount: Type.String({
    pattern: '^(0|[1-9][0-9]{0,9})(\\.[0-9]{1,6})?$',
    maxLength: 20,
    description: 'Decimal USDC, above 0.',
  }),
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
