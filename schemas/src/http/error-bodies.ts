import { Type } from 'typebox';
import type { RouteFamily } from '../routes/route.ts';

/** Bodies of errors, one form for each family (conventions.md 1.2). */
const retryAfter = Type.Integer({
  minimum: 1,
  description: 'Seconds; also sent as `Retry-After`.',
});

/** Fields beside the text where they help. */
const facts = {
  code: Type.Optional(
    Type.String({ description: 'A code of the closed list of refusals (errors.md).' }),
  ),
  retry_after_seconds: Type.Optional(retryAfter),
  server_time: Type.Optional(
    Type.Integer({ description: 'Unix milliseconds; with `timestamp_skew`.' }),
  ),
};

export const ClobError = Type.Object({
  error: Type.String({ minLength: 1, description: 'Text; clients match it exactly.' }),
  ...facts,
  reason: Type.Optional(
    Type.String({ description: 'How an order ended that was never accepted.' }),
  ),
});

export const GammaError = Type.Object({
  type: Type.Enum([
    'bad request',
    'not found error',
    'too many requests',
    'service unavailable',
    'internal error',
  ]),
  error: Type.String({ minLength: 1 }),
  ...facts,
});

export const DataError = Type.Object({
  error: Type.String({
    minLength: 1,
    description: 'A class or the field meant, before the text: `missing_field: user`.',
    examples: ['missing_field: user'],
  }),
  ...facts,
});

/** The body of an error by the family whose words it is in. */
export const familyErrors = {
  clob: ClobError,
  gamma: GammaError,
  data: DataError,
} as const satisfies Record<RouteFamily, Type.TSchema>;

/** Errors of the operator's listener. */
export const OperatorError = Type.Object({
  error: Type.String({ minLength: 1 }),
  path: Type.Optional(Type.String({ description: 'The place in the body that is wrong.' })),
  code: Type.Optional(Type.String()),
  retry_after_seconds: Type.Optional(retryAfter),
});

/** A failed cancel: what is known to be canceled stands beside the error (conventions.md 3.12). */
export const CancelError = Type.Object({
  ...ClobError.properties,
  canceled: Type.Optional(Type.Array(Type.String())),
  not_canceled: Type.Optional(Type.Record(Type.String(), Type.String())),
  not_canceled_codes: Type.Optional(Type.Record(Type.String(), Type.String())),
});

/** A refused heartbeat names the id that is expected; empty when there is no session. */
export const HeartbeatError = Type.Object({
  ...ClobError.properties,
  error_msg: Type.Optional(Type.String()),
  heartbeat_id: Type.Optional(Type.String()),
});

/** An account action that was refused after its request id was known. */
export const AccountActionError = Type.Object({
  ...ClobError.properties,
  request_id: Type.Optional(Type.String()),
  id: Type.Optional(Type.String()),
});
