import { type Static, Type } from 'typebox';
import { feeRateCeilingBps } from '../money.ts';

/** Bodies of the operator's listener: what an exchange is filled with. */
const dateTime = Type.String({ maxLength: 40, description: 'ISO 8601; UTC without a zone.' });
const text = (maxLength: number) => Type.String({ maxLength });

export const ImportMarket = Type.Object(
  {
    slug: Type.String({ minLength: 1, maxLength: 200 }),
    question: Type.String({ minLength: 1, maxLength: 500 }),
    groupItemTitle: Type.Optional(text(200)),
    conditionId: Type.Optional(Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' })),
    tokenIds: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9]{1,78}$' }), { minItems: 2, maxItems: 2 }),
    ),
    outcomes: Type.Optional(Type.Array(text(100), { minItems: 2, maxItems: 2 })),
    description: Type.Optional(text(10_000)),
    resolutionSource: Type.Optional(text(500)),
    image: Type.Optional(text(500)),
    icon: Type.Optional(text(500)),
    startDate: Type.Optional(dateTime),
    endDate: Type.Optional(dateTime),
    tickSize: Type.Optional(
      Type.String({ pattern: '^0\\.(1|01|005|0025|001|0001)$', description: 'Default 0.01.' }),
    ),
    minOrderSize: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,9}(\\.[0-9]{1,2})?$', description: 'Shares; default 5.' }),
    ),
    feeRateBps: Type.Optional(Type.Integer({ minimum: 0, maximum: feeRateCeilingBps })),
    negRisk: Type.Optional(Type.Boolean()),
    rewardsDailyRate: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
  },
  { additionalProperties: false },
);
export type ImportMarket = Static<typeof ImportMarket>;

export const ImportEvent = Type.Object(
  {
    slug: Type.String({ minLength: 1, maxLength: 200 }),
    title: Type.String({ minLength: 1, maxLength: 500 }),
    description: Type.Optional(text(10_000)),
    resolutionSource: Type.Optional(text(500)),
    image: Type.Optional(text(500)),
    icon: Type.Optional(text(500)),
    startDate: Type.Optional(dateTime),
    endDate: Type.Optional(dateTime),
    category: Type.Optional(text(100)),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 }),
    ),
    series: Type.Optional(text(200)),
    markets: Type.Array(ImportMarket, { minItems: 1, maxItems: 500 }),
  },
  { additionalProperties: false },
);
export type ImportEvent = Static<typeof ImportEvent>;

/** POST /operator/catalog: at most this many events in one request. */
export const importEventsMax = 200;

export const ImportCatalog = Type.Object(
  {
    events: Type.Array(ImportEvent, { minItems: 1, maxItems: importEventsMax }),
    onlyNew: Type.Optional(
      Type.Boolean({ description: 'What is listed already stays as it is, whatever stands here.' }),
    ),
  },
  { additionalProperties: false },
);
export type ImportCatalog = Static<typeof ImportCatalog>;

export const ImportResult = Type.Object({
  created: Type.Integer({ description: 'Markets listed by this request.' }),
  unchanged: Type.Integer({ description: 'Markets already listed with the same facts.' }),
  updated: Type.Integer({ description: 'Markets whose facts changed.' }),
  markets: Type.Array(
    Type.Object({
      slug: Type.String(),
      id: Type.String(),
      conditionId: Type.String(),
      tokenIds: Type.Array(Type.String()),
      partition: Type.Integer(),
    }),
  ),
});
export type ImportResult = Static<typeof ImportResult>;

const address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });

const transfer = {
  transferId: Type.String({
    pattern: '^0x[0-9a-fA-F]{64}$',
    description: 'Given once: a repetition changes nothing.',
  }),
  wallet: address,
  amount: Type.String({
    pattern: '^(0|[1-9][0-9]{0,9})(\\.[0-9]{1,6})?$',
    description: 'USDC.',
  }),
};

/** Items in one request that moves money or binds wallets. */
export const operatorItemsMax = 1_000;
const items = { minItems: 1, maxItems: operatorItemsMax };
const closed = { additionalProperties: false };

/** POST /operator/deposits. */
export const Deposits = Type.Object(
  {
    deposits: Type.Array(
      Type.Object(
        {
          ...transfer,
          owner: Type.Optional(
            Type.String({
              pattern: '^0x[0-9a-fA-F]{40}$',
              description: 'The wallet is bound to it before the money is written.',
            }),
          ),
        },
        closed,
      ),
      items,
    ),
  },
  closed,
);
export type Deposits = Static<typeof Deposits>;

/** POST /operator/wallets/:address/withdrawal-freeze. */
export const WithdrawalFreezeChange = Type.Object(
  {
    frozen: Type.Boolean(),
    reason: Type.String({ minLength: 1, maxLength: 500, description: 'For those who ask later.' }),
  },
  { additionalProperties: false },
);
export type WithdrawalFreezeChange = Static<typeof WithdrawalFreezeChange>;

export const DepositsResult = Type.Object({ accepted: Type.Integer() });
export type DepositsResult = Static<typeof DepositsResult>;

/** POST /operator/withdrawals. */
export const Withdrawals = Type.Object(
  { withdrawals: Type.Array(Type.Object(transfer, closed), items) },
  closed,
);

export type Withdrawals = Static<typeof Withdrawals>;

export const WithdrawalsResult = Type.Object({
  results: Type.Array(
    Type.Object({
      transferId: Type.String(),
      accepted: Type.Boolean(),
      paid: Type.Optional(Type.String({ description: 'USDC that really left.' })),
      code: Type.Optional(
        Type.String({ description: 'Why nothing was paid (docs/trading/errors.md).' }),
      ),
      error: Type.Optional(Type.String()),
    }),
    { description: 'In the order of the request.' },
  ),
});
export type WithdrawalsResult = Static<typeof WithdrawalsResult>;

/** POST /operator/wallet-owners. */
export const BindWallets = Type.Object(
  { wallets: Type.Array(Type.Object({ wallet: address, owner: address }, closed), items) },
  closed,
);
export type BindWallets = Static<typeof BindWallets>;

/**
 * Result of one binding. `bound`: by this request. `already`: it was the owner's before. `taken`: it has another owner,
 * by proof or by record. `reserved`: wallet or owner is a reserved address. `own_address`: the owner is the wallet
 * itself.
 */
const BindingResult = Type.Union([
  Type.Literal('bound'),
  Type.Literal('already'),
  Type.Literal('taken'),
  Type.Literal('reserved'),
  Type.Literal('own_address'),
]);
export type BindingResult = Static<typeof BindingResult>;

export const BindWalletsResult = Type.Object({
  results: Type.Array(
    Type.Object({
      wallet: Type.String(),
      owner: Type.String(),
      result: BindingResult,
      error: Type.Optional(Type.String({ description: 'Why it was refused.' })),
    }),
    { description: 'In the order of the request.' },
  ),
});
export type BindWalletsResult = Static<typeof BindWalletsResult>;
