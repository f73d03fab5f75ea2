import { type Static, Type } from 'typebox';
import { orderId } from './forms.ts';

/**
 * HTTP bodies of ingress (conventions.md 1.6, 2.6 and part 3). Unknown fields are tolerated and ignored.
 */
const decimalInteger = Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' });
const hex = (bytes: number) => Type.String({ pattern: `^0x[0-9a-fA-F]{${bytes * 2}}$` });
const address = hex(20);
const bytes32OrEmpty = Type.String({ pattern: '^(0x[0-9a-fA-F]{64})?$' });

const orderFields = {
  salt: Type.Union([
    decimalInteger,
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  ]),
  maker: address,
  signer: address,
  taker: Type.Optional(Type.String({ maxLength: 42 })),
  tokenId: decimalInteger,
  conditionId: Type.Optional(Type.String({ maxLength: 66 })),
  makerAmount: decimalInteger,
  takerAmount: decimalInteger,
  side: Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]),
  signatureType: Type.Integer({ minimum: 0, maximum: 3 }),
  timestamp: decimalInteger,
  metadata: Type.Optional(bytes32OrEmpty),
  builder: Type.Optional(bytes32OrEmpty),
  expiration: Type.Optional(
    Type.Union([decimalInteger, Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })]),
  ),
};
const signature = Type.String({ pattern: '^0x[0-9a-fA-F]{130,1024}$' });

const description = 'The order struct as signed, plus fields that are not signed.';

export const SignedOrder = Type.Object({ ...orderFields, signature }, { description });

const sentWithOrder = {
  owner: Type.String({ maxLength: 64, description: 'The API key of the caller.' }),
  orderType: Type.Optional(
    Type.Union([
      Type.Literal('GTC'),
      Type.Literal('GTD'),
      Type.Literal('FOK'),
      Type.Literal('FAK'),
    ]),
  ),
  postOnly: Type.Optional(Type.Boolean()),
  deferExec: Type.Optional(
    Type.Boolean({ description: 'Only false: every order is executed as it is read.' }),
  ),
};

export const OrderSubmission = Type.Object({ order: SignedOrder, ...sentWithOrder });
export type OrderSubmission = Static<typeof OrderSubmission>;

/** An item of POST /orders/validate, which takes an order before anybody signs it, too. */
export const OrderToValidate = Type.Object({
  order: Type.Object(
    { ...orderFields, signature: Type.Optional(signature) },
    { description: `${description} Without a signature, none is checked.` },
  ),
  ...sentWithOrder,
});
export type OrderToValidate = Static<typeof OrderToValidate>;

/** POST /orders takes 1 to this many. */
export const ordersPerRequestMax = 15;

export const PlacementResult = Type.Object({
  success: Type.Boolean(),
  errorMsg: Type.String({ description: 'Empty on success.' }),
  orderID: Type.String({ description: 'Order hash; empty when no order exists.' }),
  orderHash: Type.String(),
  status: Type.Union([
    Type.Literal('live'),
    Type.Literal('matched'),
    Type.Literal('delayed'),
    Type.Literal(''),
  ]),
  makingAmount: Type.String({
    description: 'What the order gave at once, decimal USDC or shares.',
  }),
  takingAmount: Type.String({ description: 'What the order got at once, decimal USDC or shares.' }),
  transactionsHashes: Type.Optional(Type.Array(Type.String())),
  tradeIDs: Type.Optional(Type.Array(Type.String())),
  code: Type.Optional(Type.String({ description: 'Refusal code, schemas/src/refusals.ts.' })),
  repeated: Type.Optional(
    Type.Literal(true, {
      description: 'The log had this order before: the other fields are its first result.',
    }),
  ),
  alive: Type.Optional(
    Type.Boolean({
      description:
        'Of a repeated order: whether it rests or is delayed now, as of the newest record read.',
    }),
  ),
  retry_after_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
  error: Type.Optional(
    Type.String({ description: 'The text of errorMsg, on a refused single order.' }),
  ),
});
export type PlacementResult = Static<typeof PlacementResult>;

/** Fields that the result of a refused order has in place of those of an order (conventions.md 3.7). */
export const noOrder = {
  orderID: '',
  orderHash: '',
  status: '',
  makingAmount: '',
  takingAmount: '',
} as const satisfies Partial<PlacementResult>;

/** DELETE /orders takes 1 to this many ids. */
export const cancelsPerRequestMax = 3_000;

export const CancelOrderBody = Type.Object({
  orderID: Type.Optional(orderId),
  orderId: Type.Optional(orderId),
});
export type CancelOrderBody = Static<typeof CancelOrderBody>;

/** The filter that is not used may be an empty text (conventions.md 3.12). */
const assetOrNothing = Type.String({
  pattern: '^(0|[1-9][0-9]{0,77}|0x[0-9a-fA-F]{64}:[01])?$',
  description: 'Token id, or `<condition>:<index>`; empty for none.',
});
export const CancelMarketBody = Type.Object({
  market: Type.Optional(
    Type.String({
      pattern: '^(0x[0-9a-fA-F]{64})?$',
      description: 'Condition id; empty for none.',
    }),
  ),
  asset_id: Type.Optional(assetOrNothing),
  assetId: Type.Optional(assetOrNothing),
});
export type CancelMarketBody = Static<typeof CancelMarketBody>;

export const CancelResult = Type.Object({
  canceled: Type.Array(Type.String()),
  not_canceled: Type.Record(Type.String(), Type.String(), {
    description: 'Why each of the others was not canceled: texts, which clients match exactly.',
  }),
  not_canceled_codes: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'The same in codes of the closed list of refusals (errors.md).',
    }),
  ),
});
export type CancelResult = Static<typeof CancelResult>;

export const ApiKeyTrio = Type.Object({
  apiKey: Type.String(),
  secret: Type.String({ description: '32 bytes, padded base64url.' }),
  passphrase: Type.String({ description: '64 hex digits.' }),
});
export type ApiKeyTrio = Static<typeof ApiKeyTrio>;
