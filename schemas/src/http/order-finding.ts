import { type Static, Type } from 'typebox';
import { address, conditionId, count, decimal, flag, orNull, outcomeIndex, text } from './forms.ts';

/** POST /orders/validate: what placing an order would meet (conventions.md 3.11). */
const hash = Type.String({ pattern: '^0x[0-9a-f]{64}$' });

const SignatureFinding = Type.Object({
  checked: Type.Boolean({
    description:
      'False for an order without a signature: `valid` is false then and `orderHash` null, and the finding is about the rest.',
  }),
  valid: flag,
  signatureType: Type.Integer({ minimum: 0, maximum: 3 }),
  expected: Type.String({ description: 'Who had to sign.' }),
  structHash: hash,
  orderHash: orNull(hash),
  likelyHash: text,
  domains: Type.Array(
    Type.Object({
      name: text,
      version: text,
      chainId: Type.Integer(),
      verifyingContract: address,
      digest: hash,
      orderHash: hash,
      recovered: orNull(address),
      matches: flag,
      accepted: Type.Boolean({
        description: 'Whether orders signed for this domain are accepted here.',
      }),
    }),
  ),
});

const MoneyFinding = Type.Object({
  wallet: address,
  needed: decimal,
  available: orNull(decimal),
  sufficient: orNull(flag),
});

const AmountsFinding = Type.Object({
  side: Type.Enum(['BUY', 'SELL']),
  orderType: Type.Enum(['GTC', 'GTD', 'FOK', 'FAK']),
  postOnly: flag,
  price: decimal,
  size: decimal,
  budget: decimal,
  leaves_book_at: orNull(text),
});

const RulesFinding = Type.Object({
  condition_id: conditionId,
  outcome: outcomeIndex,
  mode: text,
  neg_risk: flag,
  minimum_tick_size: decimal,
  min_order_size: decimal,
  fee_rate_bps: count,
  taker_delay_ms: count,
  ready: flag,
});

/** `signature` and what follows are absent where the item cannot be read as an order. */
export const OrderFinding = Type.Object({
  valid: Type.Boolean({
    description: 'No check failed; of an order without a signature, none of the others.',
  }),
  code: Type.Optional(text),
  errorMsg: Type.String({ description: 'Empty when the order is valid.' }),
  orderID: Type.Optional(text),
  known: Type.Optional(
    Type.Boolean({ description: 'Placing it again would give its first result.' }),
  ),
  signature: Type.Optional(SignatureFinding),
  order: Type.Optional(orNull(AmountsFinding)),
  money: Type.Optional(orNull(MoneyFinding)),
  market: Type.Optional(orNull(RulesFinding)),
});
export type OrderFinding = Static<typeof OrderFinding>;
