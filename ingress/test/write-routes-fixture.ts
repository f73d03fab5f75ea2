import { AccountActionResult, PositionActionForm, WithdrawalBody } from '@pm/schemas/http/account';
import {
  CommentBody,
  CommentWritten,
  ProfileBody,
  ReactionBody,
  ReportBody,
} from '@pm/schemas/http/comments';
import { AgentCreation, KeySettings } from '@pm/schemas/http/keys';
import { DeletedNotifications } from '@pm/schemas/http/notifications';
import { BareHeartbeatResponse, HeartbeatBody, HeartbeatResponse } from '@pm/schemas/http/sessions';
import {
  ApiKeyTrio,
  CancelMarketBody,
  CancelOrderBody,
  CancelResult,
  OrderSubmission,
  OrderToValidate,
  PlacementResult,
} from '@pm/schemas/http/trading';
import type { HttpRoute } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import { type TSchema, Type } from 'typebox';
import { conditionId, tokenId } from './ingress-fixture.ts';

/** Routes of ingress that change something. */
export const writeRoutes: readonly HttpRoute[] = (routes as readonly HttpRoute[]).filter(
  ({ service, method }) => service === 'ingress' && method !== 'GET',
);

/** Its name in the table below. */
export const nameOf = ({ method, path }: HttpRoute): string => `${method} ${path}`;

/** Names that a body may have. */
export interface Sender {
  readonly readKey: string;
  /** Signed order submissions, good and bad ones. */
  readonly orders: readonly object[];
}

/** Request and response of a write route. */
export interface WriteRoute {
  /** Schema of the body; null when bodies are ignored. */
  readonly body: TSchema | null;
  /** Schema of the response on success. */
  readonly answer: TSchema;
  /** A body that names entries of the test fixture. */
  readonly sample?: (caller: Sender) => unknown;
  /** A query that names something. */
  readonly query?: string;
}

const text = Type.String();
const key = Type.Object({ key: text, secret: text, passphrase: text });
const agent = Type.Object({
  id: text,
  name: text,
  status: text,
  createdAt: text,
  lastActiveAt: Type.Union([text, Type.Null()]),
});
const newAgent = Type.Object({ ...agent.properties, key: text });
const deleted = Type.Object({ deleted: Type.Literal(true) });
const ok = Type.Literal('OK');
const finding = Type.Object({ valid: Type.Boolean(), errorMsg: text });
const profile = Type.Object({ proxyWallet: text, name: text, bio: text, profileImage: text });
const orders = Type.Array(OrderSubmission, { minItems: 1, maxItems: 15 });
const ids = Type.Array(Type.String({ pattern: '^0x[0-9a-f]{64}$' }), { minItems: 1 });
const comment = () => ({
  parent_entity_type: 'market',
  parent_entity_id: conditionId,
  body: 'so it seems',
});
const position = {
  body: PositionActionForm,
  answer: AccountActionResult,
  sample: () => ({ condition_id: conditionId, amount: '5', id: 'first' }),
};

/** By `METHOD /path`. A write route that is missing here fails the tests: then its body is not declared. */
export const writeTable: Readonly<Record<string, WriteRoute>> = {
  'POST /auth/api-key': { body: null, answer: ApiKeyTrio },
  'DELETE /auth/api-key': { body: null, answer: ok, query: 'apiKey=none' },
  'POST /auth/api-key/settings': { body: KeySettings, answer: KeySettings },
  'POST /auth/readonly-api-key': { body: null, answer: Type.Object({ apiKey: text }) },
  'DELETE /auth/readonly-api-key': {
    body: Type.Object({ key: text }),
    answer: Type.Union([deleted, Type.Literal(true)]),
    sample: ({ readKey }) => ({ key: readKey }),
    query: 'key=none',
  },
  'POST /auth/builder-api-key': { body: null, answer: key },
  'DELETE /auth/builder-api-key': {
    body: Type.Object({ key: text }),
    answer: ok,
    query: 'key=none',
  },
  'POST /api/v1/agents': { body: AgentCreation, answer: newAgent },
  'POST /api/v1/agents/:id/pause': { body: null, answer: agent },
  'POST /api/v1/agents/:id/resume': { body: null, answer: agent },
  'POST /api/v1/agents/:id/rotate': { body: null, answer: newAgent },
  'DELETE /api/v1/agents/:id': { body: null, answer: deleted },
  'POST /order': {
    body: OrderSubmission,
    answer: PlacementResult,
    sample: ({ orders }) => orders[0],
  },
  'POST /orders': { body: orders, answer: Type.Array(PlacementResult) },
  'POST /orders/validate': {
    body: Type.Array(OrderToValidate, { minItems: 1, maxItems: 15 }),
    answer: Type.Array(finding),
  },
  'DELETE /order': {
    body: CancelOrderBody,
    answer: CancelResult,
    sample: () => ({ orderID: `0x${'ab'.repeat(32)}` }),
    query: `orderID=0x${'ab'.repeat(32)}`,
  },
  'DELETE /orders': { body: ids, answer: CancelResult, query: 'orderIDs=0x1,0x2' },
  'DELETE /cancel-all': { body: null, answer: CancelResult },
  'DELETE /cancel-market-orders': {
    body: CancelMarketBody,
    answer: CancelResult,
    sample: () => ({ market: conditionId, asset_id: tokenId }),
    query: `market=${conditionId}`,
  },
  'POST /account/split': position,
  'POST /account/merge': position,
  'POST /account/redeem': {
    ...position,
    sample: () => ({ condition_id: conditionId, id: 'all' }),
  },
  'POST /account/withdrawals': {
    body: WithdrawalBody,
    answer: AccountActionResult,
    sample: () => ({ amount: '1.5', id: 'out' }),
  },
  'DELETE /notifications': { body: null, answer: DeletedNotifications, query: 'ids=1,2' },
  'POST /v1/heartbeats': { body: HeartbeatBody, answer: HeartbeatResponse },
  'POST /heartbeats': { body: null, answer: BareHeartbeatResponse },
  'POST /comments': { body: CommentBody, answer: CommentWritten, sample: comment },
  'DELETE /comments/:id': { body: null, answer: CommentWritten },
  'POST /comments/:id/reactions': { body: ReactionBody, answer: CommentWritten },
  'DELETE /comments/:id/reactions': { body: null, answer: CommentWritten },
  'POST /comments/:id/reports': { body: ReportBody, answer: CommentWritten },
  'PUT /profile': { body: ProfileBody, answer: profile },
};

export function writeRouteOf(route: HttpRoute): WriteRoute {
  const known = writeTable[nameOf(route)];
  if (known === undefined) throw new Error(`${nameOf(route)} is not in the table of write routes`);
  return known;
}
