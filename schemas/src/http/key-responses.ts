import { Type } from 'typebox';
import { dateTime, flag, orNull, text, uuid } from './forms.ts';

/** Responses of the routes about keys and agents (conventions.md 2.6 and 2.7). */
export const ApiKeyList = Type.Object({ apiKeys: Type.Array(uuid) });
export const ApiKeyFacts = Type.Object({
  apiKey: uuid,
  nonce: Type.String({ pattern: '^[0-9]+$', examples: ['0'] }),
  status: Type.Enum(['active', 'revoked']),
  createdAt: dateTime,
  revokedAt: orNull(dateTime),
});
export const ReadOnlyKey = Type.Object({ apiKey: uuid });
export const KeyDeleted = Type.Object({ deleted: Type.Literal(true) });
export const KeyValidity = Type.Object({ valid: flag });
export const BuilderKey = Type.Object({ key: uuid, secret: text, passphrase: text });
export const BuilderKeyFacts = Type.Object({
  key: uuid,
  createdAt: dateTime,
  revokedAt: orNull(dateTime),
});
export const ClosedOnlyResponse = Type.Object({ closedOnly: flag, closed_only: flag });

/** An agent as its owner and itself see it. */
export const AgentView = Type.Object({
  id: uuid,
  name: Type.String({ examples: ['market maker 1'] }),
  status: Type.String({ examples: ['active'] }),
  createdAt: dateTime,
  lastActiveAt: orNull(dateTime),
});
/** With its key: when it is made and when it is rotated, and never again. */
export const AgentWithKey = Type.Object({
  ...AgentView.properties,
  key: Type.String({
    pattern: '^pro_[\\w-]{32}$',
    examples: ['pro_2b1kJ8dQ0xT7yLw3mZr5vN9pUe4sHgAc'],
  }),
});
export const AgentList = Type.Object({ data: Type.Array(AgentView) });
