import { type Static, Type } from 'typebox';
import { count, dateTime, orNull, text } from './forms.ts';

/** Parameters, bodies and answers of what a second operator decides on (operator.md). */
const closed = { additionalProperties: false };

/** Longest reason of a challenge. */
const challengeReasonMaxChars = 1_000;

export const OperatorApprovalParams = Type.Object({
  id: Type.String({
    pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    examples: ['6f1c2f64-0f5a-4c55-8f0e-2b8f5d1c9a10'],
  }),
});

/** POST /operator/approvals/:id. */
export const ApprovalChoice = Type.Object({ decision: Type.Enum(['approve', 'reject']) }, closed);
export type ApprovalChoice = Static<typeof ApprovalChoice>;

/** POST /operator/approvals/:id/challenge. */
export const Challenge = Type.Object(
  {
    reason: Type.String({
      minLength: 1,
      maxLength: challengeReasonMaxChars,
      examples: ['The station measured no rain.'],
    }),
  },
  closed,
);
export type Challenge = Static<typeof Challenge>;

/** Actions that approvals are about: names of routes. The operator's program compares them with `GuardedAction`. */
export const approvedActions = [
  'deposit',
  'payOut',
  'bindWallets',
  'setWithdrawalFreeze',
  'setWalletStatus',
  'resolveMarket',
  'setMarketRules',
  'changeMarket',
  'changeEvent',
] as const;

export const ApprovalResponse = Type.Object({
  id: text,
  action: Type.Enum([...approvedActions]),
  subject: Type.String({
    description:
      'The market or event by its number, or the wallet, that the path of the request names; empty without one.',
  }),
  market: Type.Union([text, Type.Null()], {
    description: 'Number of the market; null for other subjects.',
  }),
  body: Type.String({ description: 'What was sent; in lists its first 4,096 characters.' }),
  bodyBytes: count,
  bodySha256: text,
  state: Type.Enum(
    ['pending', 'approved', 'rejected', 'expired', 'proposed', 'challenged', 'carried_out'],
    {
      description: '`proposed` and `challenged` are those of a resolution with a challenge window.',
    },
  ),
  requestedBy: text,
  requestedAt: dateTime,
  expiresAt: dateTime,
  decidedBy: orNull(text),
  decidedAt: orNull(dateTime),
  paysAt: Type.Union([dateTime, Type.Null()], {
    description: 'When the challenge window ends; null where there is none, or not yet.',
  }),
  challengedBy: orNull(text),
  challengedAt: orNull(dateTime),
  challengeReason: orNull(text),
  carriedOutAt: Type.Union([dateTime, Type.Null()], {
    description: 'When it was carried out; null also for a resolution without a challenge window.',
  }),
});
export type ApprovalResponse = Static<typeof ApprovalResponse>;

export const ApprovalList = Type.Object({ data: Type.Array(ApprovalResponse) });
/** The decision, and what the request answered once it was carried out; null while its challenge window runs. */
export const ApprovalDecided = Type.Object({
  approval: ApprovalResponse,
  result: orNull(Type.Object({}, { additionalProperties: true })),
});
