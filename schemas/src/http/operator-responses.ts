import { type Static, Type } from 'typebox';
import { takerDelayMaxMs } from '../log/executions.ts';
import { feeRateCeilingBps } from '../money.ts';
import { count, dateTime, decimal, flag, number, orNull, text } from './forms.ts';

/** Parameters, bodies and answers of the operator's listener besides the catalog's and those that move money. */
const closed = { additionalProperties: false };
const digits = (most: number) => `^[1-9][0-9]{0,${most}}$`;
const shares = Type.String({ pattern: '^[0-9]{1,9}(\\.[0-9]{1,2})?$', examples: ['5'] });

/** The number of a market, an event, a tag or a series in a path. */
export const OperatorEntryParams = Type.Object({ id: Type.String({ pattern: digits(9) }) });
export const OperatorCommentParams = Type.Object({ id: Type.String({ pattern: digits(15) }) });
export const OperatorWalletParams = Type.Object({
  address: Type.String({
    pattern: '^0x[0-9a-fA-F]{40}$',
    examples: ['0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf'],
  }),
});

/** Modes that an operator may set; RESOLVED comes with a resolution. */
const Mode = Type.Enum(['OPEN', 'POST_ONLY', 'CANCEL_ONLY', 'HALTED']);
export const ModeChange = Type.Object({ mode: Mode }, closed);
export const MarketModeResponse = Type.Object({ id: text, mode: Mode });
export const TradingModeResponse = Type.Object({ mode: Mode, partitions: count });
/** Partitions that have not answered; the same request again completes it. */
export const TradingModeError = Type.Object({
  error: text,
  partitions: Type.Optional(Type.Array(count)),
});

export const Resolution = Type.Object(
  {
    payout0: Type.String({
      maxLength: 6,
      description: 'USDC a token of outcome 0 pays, 0 to 1.',
      examples: ['1'],
    }),
  },
  closed,
);
export type Resolution = Static<typeof Resolution>;
export const ResolutionResponse = Type.Object({ id: text, payout0: decimal });
export type ResolutionResponse = Static<typeof ResolutionResponse>;

/** PUT /operator/markets/:id/rules: what is named becomes so, the rest stays. */
export const MarketRules = Type.Object(
  {
    tickSize: Type.Optional(Type.String({ pattern: '^0\\.(1|01|005|0025|001|0001)$' })),
    minOrderSize: Type.Optional(shares),
    feeRateBps: Type.Optional(Type.Integer({ minimum: 0, maximum: feeRateCeilingBps })),
    rebateBps: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
    takerDelayMs: Type.Optional(Type.Integer({ minimum: 0, maximum: takerDelayMaxMs })),
    rewardsDailyRate: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
    rewardsMinSize: Type.Optional(shares),
    rewardsMaxSpread: Type.Optional(Type.String({ pattern: '^0(\\.[0-9]{1,4})?$' })),
  },
  closed,
);
export type MarketRules = Static<typeof MarketRules>;
export const MarketRulesResponse = Type.Object({
  id: text,
  tickSize: decimal,
  minOrderSize: decimal,
  feeRateBps: count,
  nextFeeRateBps: Type.Optional(
    Type.Integer({ minimum: 0, description: 'From `feeChangesAt` on; absent without a notice.' }),
  ),
  feeChangesAt: Type.Optional(dateTime),
  rebateBps: count,
  takerDelayMs: count,
  rewardsDailyRate: number,
  rewardsMinSize: decimal,
  rewardsMaxSpread: decimal,
  changed: Type.Boolean({ description: 'False when it was so already.' }),
});
export type MarketRulesResponse = Static<typeof MarketRulesResponse>;

export const CommentHide = Type.Object({ hidden: Type.Boolean() }, closed);
export const CommentHidden = Type.Object({ id: text, hidden: flag });

const AuditedRequest = Type.Object({
  id: text,
  time: dateTime,
  timeMs: Type.Optional(count),
  who: Type.String({ description: 'The name of the operator whose token it was.' }),
  tokenId: text,
  address: text,
  action: Type.String({ examples: ['POST /operator/deposits'] }),
  subject: text,
  body: text,
  bodyBytes: count,
  bodySha256: text,
  status: orNull(Type.Integer()),
});
export const AuditResponse = Type.Object({ entries: Type.Array(AuditedRequest) });

export const WalletStatusResponse = Type.Object({
  address: text,
  status: Type.Enum(['normal', 'closed_only', 'banned']),
  reason: text,
  changedAt: orNull(dateTime),
});
const canceled = Type.Optional(
  Type.Integer({ minimum: 0, description: 'Orders taken off the books of a banned wallet.' }),
);
export const WalletStatusChanged = Type.Object({ ...WalletStatusResponse.properties, canceled });
export const WalletStatusUnconfirmed = Type.Object({
  error: text,
  retry_after_seconds: Type.Optional(count),
  ...Type.Partial(WalletStatusChanged).properties,
});
export const WalletStatusList = Type.Object({ data: Type.Array(WalletStatusResponse) });

export const WithdrawalFreezeResponse = Type.Object({
  address: text,
  frozen: flag,
  unsound: flag,
  free: decimal,
  reason: text,
  changedAt: orNull(dateTime),
});
export const WithdrawalFreezeList = Type.Object({ data: Type.Array(WithdrawalFreezeResponse) });

export const WalletOwnerResponse = Type.Object({
  address: text,
  owner: orNull(text),
  basis: orNull(text),
  boundBy: orNull(text),
  boundAt: orNull(dateTime),
  reserved: flag,
});

export const OperatorStatus = Type.Object({
  readiness: Type.Object({ ready: flag, reasons: Type.Array(text) }),
  markets: count,
  marketsMax: Type.Integer({
    minimum: 0,
    description: 'Markets that may be listed (`PM_MARKETS_MAX`).',
  }),
  boundWallets: count,
  waitingCommands: count,
  partitions: Type.Array(
    Type.Object({
      partition: count,
      ready: flag,
      queuedCommands: count,
      inOffset: Type.Integer(),
      clockMs: count,
      silentMs: orNull(Type.Integer()),
    }),
  ),
});
