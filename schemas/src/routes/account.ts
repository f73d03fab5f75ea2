import {
  AccountActionResult,
  PositionActionBody,
  RedemptionBody,
  WithdrawalBody,
} from '../http/account.ts';
import { AccountActionError } from '../http/error-bodies.ts';
import { sample } from '../http/forms.ts';
import { route } from './route.ts';

const failed = (description: string) => ({ description, schema: AccountActionError });

const action = {
  service: 'ingress',
  family: 'clob',
  auth: ['l2'],
  method: 'POST',
  takesIdempotencyKey: true,
  repetition: 'harmless',
  headers: ['Idempotent-Replayed'],
  responses: {
    200: {
      description: 'What was done; the same id again answers the same.',
      schema: AccountActionResult,
    },
    400: failed('Refused; `code` says why (errors.md).'),
    401: failed('The credentials prove nothing, or the body is not the signed one.'),
    403: failed('`withdrawals_frozen` or `read_only_key`.'),
    409: failed('The market is paused.'),
    422: failed('The id was used for another request.'),
    425: failed('The partition of the market is restarting.'),
    429: failed('A limit is used up.'),
    503: failed(
      'Not confirmed, not begun, or the first request with this id is running: send the same again.',
    ),
  },
} as const;

const result = (of: object) => ({
  success: true,
  id: 'pay-7',
  request_id: sample.order,
  wallet: sample.wallet,
  ...of,
});
const pairs = { condition_id: sample.condition, amount: '10', id: 'pay-7' } as const;
const done = { condition_id: sample.condition, amount: '10' } as const;

/** Routes for actions of a wallet with its tokens and money besides trading (conventions.md 4.2). */
export const accountRoutes = {
  splitPosition: route({
    ...action,
    path: '/account/split',
    limits: ['account-actions'],
    opensPositions: 'request',
    summary: 'Split USDC into pairs of tokens',
    body: PositionActionBody,
    examples: [{ body: pairs, response: result({ action: 'split', ...done }) }],
  }),
  mergePositions: route({
    ...action,
    path: '/account/merge',
    limits: ['account-actions'],
    summary: 'Merge pairs of tokens into USDC',
    body: PositionActionBody,
    examples: [{ body: pairs, response: result({ action: 'merge', ...done }) }],
  }),
  redeemPositions: route({
    ...action,
    path: '/account/redeem',
    limits: ['account-actions'],
    summary: 'Redeem the tokens of a resolved market',
    description: 'All free tokens of both outcomes; a body with an `amount` is refused.',
    body: RedemptionBody,
    examples: [
      {
        body: { condition_id: sample.condition, id: 'pay-7' },
        response: result({ action: 'redeem', condition_id: sample.condition, payout: '10' }),
      },
    ],
  }),
  withdraw: route({
    ...action,
    path: '/account/withdrawals',
    limits: ['account-actions', 'withdrawals'],
    summary: 'Withdraw USDC',
    body: WithdrawalBody,
    examples: [
      {
        body: { amount: '25', id: 'pay-7' },
        response: result({ action: 'withdrawal', amount: '25' }),
      },
    ],
  }),
} as const;
