import { Type } from 'typebox';
import { address, sample, tokenId } from '../http/forms.ts';
import { DeletedNotifications, Notification, notificationsMax } from '../http/notifications.ts';
import { BalanceAllowance, WalletBalances } from '../http/private-reading.ts';
import { listOf, oneOf, optional, wholeNumber } from './parameters.ts';
import { route } from './route.ts';

const read = {
  method: 'GET',
  service: 'query-api',
  family: 'clob',
  auth: ['l2', 'readOnlyKey'],
} as const;

const unserved = { 400: '{name} is not supported here' } as const;
const balance = {
  ...read,
  query: Type.Object({
    asset_type: oneOf(['COLLATERAL', 'CONDITIONAL'], 'USDC, or the tokens of `token_id`.'),
    signature_type: optional(
      oneOf(['0', '1', '2', '3', '-1'], 'Which wallets of the caller are meant; 0 by default.'),
    ),
    token_id: optional(tokenId),
    wallet: optional(address),
  }),
  responses: {
    200: {
      description: 'Base units, before open orders are counted off.',
      schema: BalanceAllowance,
    },
  },
  errors: {
    400: 'Invalid asset type; Invalid signature_type; Invalid token id; wallet is not one of the caller',
  },
  examples: [
    { query: { asset_type: 'COLLATERAL' }, response: { balance: '25000000', allowances: {} } },
    {
      query: { asset_type: 'CONDITIONAL', token_id: sample.token },
      response: { balance: '10000000', allowances: {} },
    },
  ],
} as const;

/** Routes for the balances and notifications of a caller (conventions.md 4.1). */
export const balanceRoutes = {
  getBalanceAllowance: route({
    ...balance,
    path: '/balance-allowance',
    limits: ['balance'],
    summary: 'What the caller owns of USDC or of a token',
  }),
  updateBalanceAllowance: route({
    ...balance,
    path: '/balance-allowance/update',
    limits: ['balance-update'],
    summary: 'The same: nothing is cached here',
  }),
  listNotifications: route({
    ...read,
    path: '/notifications',
    summary: 'Fills, cancels and resolutions of the last seven days',
    responses: {
      200: { description: 'The newest 100.', schema: Type.Array(Notification) },
    },
    errors: unserved,
    examples: [{}],
  }),
  deleteNotifications: route({
    ...read,
    service: 'ingress',
    auth: ['l2'],
    method: 'DELETE',
    path: '/notifications',
    repetition: 'brief',
    uncoveredQuery: true,
    summary: 'Do not show notifications again',
    query: Type.Object({
      ids: listOf(wholeNumber({ max: 999_999_999_999_999 }), notificationsMax, 'Their ids.'),
    }),
    responses: { 200: { description: 'The ids.', schema: DeletedNotifications } },
    errors: {
      400: `invalid request: ids are 1 to ${notificationsMax} whole numbers between commas`,
    },
    examples: [{ query: { ids: '1,2' }, response: { deleted: ['1', '2'] } }],
  }),
  listBalances: route({
    ...read,
    path: '/balances',
    summary: 'Everything the caller has, by wallet',
    responses: {
      200: {
        description: 'Decimal USDC and shares.',
        schema: Type.Object({ wallets: Type.Array(WalletBalances) }),
      },
    },
    errors: unserved,
    examples: [{}],
  }),
} as const;
