import {
  ApprovalChoice,
  ApprovalDecided,
  ApprovalList,
  ApprovalResponse,
  Challenge,
  OperatorApprovalParams,
} from '../http/approvals.ts';
import { OperatorError } from '../http/error-bodies.ts';
import { operatorRoute } from './route.ts';

const error = (description: string) => ({ description, schema: OperatorError });
const read = { method: 'GET', auth: ['operator'], role: 'viewer', secondPerson: 'never' } as const;
const params = { id: '6f1c2f64-0f5a-4c55-8f0e-2b8f5d1c9a10' } as const;
const unknown = { 404: error('There is no such approval.') } as const;

/** Answers of routes that may need a second operator, or whose effect may be challenged first. */
export const pendingApproval = {
  202: {
    description:
      'Nothing is done yet: a second operator decides (`/operator/approvals/{id}`), or a resolution can be challenged until `paysAt`.',
    schema: ApprovalResponse,
  },
} as const;

/** Requests that a second operator decides on (operator.md). */
export const operatorApprovalRoutes = {
  listApprovals: operatorRoute({
    ...read,
    path: '/operator/approvals',
    summary:
      'Requests that wait for a second operator or can be challenged, and earlier ones, newest first',
    responses: { 200: { description: 'Approvals.', schema: ApprovalList } },
    examples: [{}],
  }),
  getApproval: operatorRoute({
    ...read,
    path: '/operator/approvals/:id',
    summary: 'One of them, with the whole body of its request',
    params: OperatorApprovalParams,
    responses: { 200: { description: 'How it is.', schema: ApprovalResponse }, ...unknown },
    examples: [{ params }],
  }),
  decideApproval: operatorRoute({
    method: 'POST',
    auth: ['operator'],
    // The role of the request counts, which its record says.
    role: 'viewer',
    secondPerson: 'never',
    path: '/operator/approvals/:id',
    summary: 'Approve a request of another operator, or reject it',
    description:
      'An approved request is carried out; the same again completes one that broke off. An approved resolution waits for the end of its challenge window first.',
    params: OperatorApprovalParams,
    body: ApprovalChoice,
    responses: {
      200: { description: 'The decision, and what came of it.', schema: ApprovalDecided },
      403: error('It is an own request, or takes a role that the operator does not have.'),
      409: error('It is decided on or expired, or cannot be carried out.'),
      503: error('Not done, or not confirmed: send the same again.'),
      ...unknown,
    },
    examples: [{ params, body: { decision: 'approve' } }],
  }),
  challengeApproval: operatorRoute({
    method: 'POST',
    auth: ['operator'],
    // It stops money and moves none, so every operator may.
    role: 'viewer',
    secondPerson: 'never',
    path: '/operator/approvals/:id/challenge',
    summary: 'Make a resolution void that has not paid yet',
    description:
      'Whoever proposed it may, too. The same again is the same challenge. The market can be resolved by another proposal.',
    params: OperatorApprovalParams,
    body: Challenge,
    responses: {
      200: { description: 'The resolution, challenged.', schema: ApprovalResponse },
      409: error(
        'It is no resolution, is decided on otherwise, or its challenge window has ended.',
      ),
      503: error('Not done, or not confirmed: send the same again.'),
      ...unknown,
    },
    examples: [{ params, body: { reason: 'The station measured no rain.' } }],
  }),
} as const;
