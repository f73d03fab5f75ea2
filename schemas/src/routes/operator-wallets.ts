import { Type } from 'typebox';
import { OperatorError } from '../http/error-bodies.ts';
import { sample } from '../http/forms.ts';
import { WalletStatusChange } from '../http/keys.ts';
import {
  BindWallets,
  BindWalletsResult,
  Deposits,
  DepositsResult,
  WithdrawalFreezeChange,
  Withdrawals,
  WithdrawalsResult,
} from '../http/operator.ts';
import {
  AuditResponse,
  OperatorStatus,
  OperatorWalletParams,
  WalletOwnerResponse,
  WalletStatusChanged,
  WalletStatusList,
  WalletStatusResponse,
  WalletStatusUnconfirmed,
  WithdrawalFreezeList,
  WithdrawalFreezeResponse,
} from '../http/operator-responses.ts';
import { pendingApproval } from './operator-approvals.ts';
import { optional, shortText, wholeNumber } from './parameters.ts';
import { operatorRoute } from './route.ts';

const error = (description: string) => ({ description, schema: OperatorError });
const post = { method: 'POST', auth: ['operator'], role: 'treasury' } as const;
const get = {
  method: 'GET',
  auth: ['operator'],
  role: 'viewer',
  secondPerson: 'never',
  examples: [{}],
} as const;
const params = { address: sample.wallet } as const;
const ofWallet = { params: OperatorWalletParams, examples: [{ params }] } as const;
const transfer = { transferId: sample.order, wallet: sample.wallet, amount: '100' } as const;
const listed = Type.Object({ limit: optional(wholeNumber({ min: 1, max: 1_000 })) });
const binding = {
  wallet: sample.wallet,
  owner: '0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF',
} as const;

/** Money and wallets, the audit trail and the state of ingress (operator.md). */
export const operatorWalletRoutes = {
  listAudit: operatorRoute({
    ...get,
    path: '/operator/audit',
    summary: 'Requests of operators and their results, newest first',
    query: Type.Object({
      limit: optional(wholeNumber({ min: 1, max: 500 }, '100 by default. ')),
      offset: optional(wholeNumber({ max: 5_000 })),
      containing: optional(shortText('A part of the action or of the path.')),
    }),
    responses: { 200: { description: 'Requests.', schema: AuditResponse } },
  }),
  deposit: operatorRoute({
    ...post,
    secondPerson: 'deposit',
    path: '/operator/deposits',
    summary: 'Credit wallets',
    description: 'Each transfer id is applied once. A named `owner` is bound to the wallet first.',
    body: Deposits,
    responses: {
      200: { description: 'Durable.', schema: DepositsResult },
      ...pendingApproval,
      409: error('The wallet has another owner, or would hold more than a billion USDC.'),
      503: error('Not done, or not confirmed: send the same again.'),
    },
    examples: [{ body: { deposits: [transfer] }, response: { accepted: 1 } }],
  }),
  payOut: operatorRoute({
    ...post,
    secondPerson: 'above_limit',
    path: '/operator/withdrawals',
    summary: 'Pay out to wallets',
    description: 'Each transfer id is applied once.',
    body: Withdrawals,
    responses: {
      200: { description: 'A result per item, in order.', schema: WithdrawalsResult },
      ...pendingApproval,
      409: error('Too many requests wait for approval.'),
    },
    examples: [
      {
        body: { withdrawals: [transfer] },
        response: { results: [{ transferId: sample.order, accepted: true, paid: '100' }] },
      },
    ],
  }),
  setWithdrawalFreeze: operatorRoute({
    ...post,
    ...ofWallet,
    secondPerson: 'release',
    path: '/operator/wallets/:address/withdrawal-freeze',
    summary: 'Freeze or clear the withdrawals of a wallet',
    body: WithdrawalFreezeChange,
    responses: {
      200: { description: 'How it is now.', schema: WithdrawalFreezeResponse },
      ...pendingApproval,
      409: error('Too many requests wait for approval.'),
    },
    examples: [{ params, body: { frozen: false, reason: 'checked by hand' } }],
  }),
  getWithdrawalFreeze: operatorRoute({
    ...get,
    ...ofWallet,
    path: '/operator/wallets/:address/withdrawal-freeze',
    summary: 'Whether the withdrawals of a wallet are frozen',
    responses: { 200: { description: 'How it is.', schema: WithdrawalFreezeResponse } },
  }),
  listWithdrawalFreezes: operatorRoute({
    ...get,
    path: '/operator/withdrawal-freezes',
    summary: 'Wallets whose withdrawals are frozen',
    query: listed,
    responses: { 200: { description: 'Wallets.', schema: WithdrawalFreezeList } },
  }),
  bindWallets: operatorRoute({
    ...post,
    secondPerson: 'binding',
    path: '/operator/wallet-owners',
    summary: 'Bind contract wallets to their owners',
    body: BindWallets,
    responses: {
      200: { description: 'A result per item, in order.', schema: BindWalletsResult },
      ...pendingApproval,
      409: error('As many wallets are bound, or requests wait for approval, as can be kept.'),
      503: error('Not done, or not confirmed: send the same again.'),
    },
    examples: [
      {
        body: { wallets: [binding] },
        response: { results: [{ ...binding, result: 'bound' }] },
      },
    ],
  }),
  getWalletOwner: operatorRoute({
    ...get,
    ...ofWallet,
    path: '/operator/wallets/:address/owner',
    summary: 'Whose a wallet is, and why',
    responses: {
      200: { description: 'The owner; null without one.', schema: WalletOwnerResponse },
    },
  }),
  setWalletStatus: operatorRoute({
    ...post,
    ...ofWallet,
    secondPerson: 'release',
    path: '/operator/wallets/:address/status',
    summary: 'Set what a wallet may do',
    description: 'The orders of a banned wallet are taken off the books.',
    body: WalletStatusChange,
    responses: {
      200: { description: 'How it is now.', schema: WalletStatusChanged },
      ...pendingApproval,
      409: error('Too many requests wait for approval.'),
      503: {
        description: 'Set, but not all orders are known to be canceled: send the same again.',
        schema: WalletStatusUnconfirmed,
      },
    },
    examples: [{ params, body: { status: 'closed_only', reason: 'asked for it' } }],
  }),
  getWalletStatus: operatorRoute({
    ...get,
    ...ofWallet,
    path: '/operator/wallets/:address/status',
    summary: 'What a wallet may do',
    responses: { 200: { description: 'How it is.', schema: WalletStatusResponse } },
  }),
  listRestrictedWallets: operatorRoute({
    ...get,
    path: '/operator/wallets',
    summary: 'Wallets that may not do everything',
    query: listed,
    responses: { 200: { description: 'Wallets.', schema: WalletStatusList } },
  }),
  getOperatorStatus: operatorRoute({
    ...get,
    path: '/operator/status',
    summary: 'The state of the process that has this listener',
    responses: { 200: { description: 'Facts.', schema: OperatorStatus } },
  }),
} as const;
