import { type Static, Type } from 'typebox';

/**
 * HTTP bodies about keys, agents and what wallets may do (conventions.md 2.6, 2.7, 2.5). Unknown fields are ignored.
 */

/** How a key's orders treat those of the same owner, as the wire spells it. They never trade with one another. */
export const selfTradeNames = {
  cancel_newest: 'CANCEL_NEWEST',
  cancel_oldest: 'CANCEL_OLDEST',
  cancel_both: 'CANCEL_BOTH',
} as const;

export const KeySettings = Type.Object({
  self_trade: Type.Union([
    Type.Literal('cancel_newest'),
    Type.Literal('cancel_oldest'),
    Type.Literal('cancel_both'),
  ]),
});
export type KeySettings = Static<typeof KeySettings>;

/** Names of agents are shown to their owner only: any text without control characters. */
export const AgentCreation = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]+$',
  }),
});
export type AgentCreation = Static<typeof AgentCreation>;

/** POST /operator/wallets/:address/status. */
export const WalletStatusChange = Type.Object(
  {
    status: Type.Union([
      Type.Literal('normal'),
      Type.Literal('closed_only'),
      Type.Literal('banned'),
    ]),
    reason: Type.String({ minLength: 1, maxLength: 500, description: 'For those who ask later.' }),
  },
  { additionalProperties: false },
);
export type WalletStatusChange = Static<typeof WalletStatusChange>;
