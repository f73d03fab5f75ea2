import { Type } from 'typebox';
import { sample, uuid } from '../http/forms.ts';
import {
  ApiKeyFacts,
  ApiKeyList,
  BuilderKey,
  BuilderKeyFacts,
  ClosedOnlyResponse,
  KeyDeleted,
  KeyValidity,
  ReadOnlyKey,
} from '../http/key-responses.ts';
import { KeySettings } from '../http/keys.ts';
import { ApiKeyTrio } from '../http/trading.ts';
import { optional, truth } from './parameters.ts';
import { route } from './route.ts';

const base = { service: 'ingress', family: 'clob' } as const;
const ownOrWallet = { ...base, auth: ['l2', 'l1'] } as const;
const own = { ...base, auth: ['l2'] } as const;
const reserved = { 403: 'the address is reserved and can have no keys' } as const;
const notFound = { 404: 'api key not found' } as const;
const overtaken = {
  409: 'this signed request was used before, sign it again with the present time',
} as const;
const unproven = { 503: 'the memory of used proofs is away or full, try again shortly' } as const;
const tooMany = { 400: 'too many API keys, max allowed: {max}' } as const;
const ok = { description: 'Exactly `"OK"`.', schema: Type.Literal('OK') } as const;
const namedKey = Type.Object({ key: Type.Optional(uuid) });

/** API keys of every kind and what a wallet may do (conventions.md part 2). */
export const keyRoutes = {
  createApiKey: route({
    ...base,
    method: 'POST',
    path: '/auth/api-key',
    auth: ['l1'],
    limits: ['new-keys'],
    summary: 'Create or find the API key of a wallet and nonce',
    description:
      'The same wallet and nonce get the same key until it is revoked. A body is ignored.',
    responses: { 200: { description: 'The key, and what signs with it.', schema: ApiKeyTrio } },
    errors: { ...tooMany, ...reserved, ...overtaken, ...unproven },
    examples: [{}],
  }),
  deriveApiKey: route({
    ...base,
    method: 'GET',
    path: '/auth/derive-api-key',
    auth: ['l1'],
    summary: 'Find the API key of a wallet and nonce',
    responses: { 200: { description: 'The key, and what signs with it.', schema: ApiKeyTrio } },
    errors: { ...reserved, 404: 'Could not derive api key!', ...overtaken, ...unproven },
    examples: [{}],
  }),
  listApiKeys: route({
    ...ownOrWallet,
    method: 'GET',
    path: '/auth/api-keys',
    summary: 'The API keys of the wallet',
    query: Type.Object({
      metadata: optional(truth('Each key with nonce, status and times.')),
      includeRevoked: optional(truth('Revoked keys too; true by default.')),
    }),
    responses: {
      200: {
        description: 'Keys; with `metadata` an array of objects.',
        schema: Type.Union([ApiKeyList, Type.Array(ApiKeyFacts)]),
      },
    },
    errors: { 400: 'invalid request: {name} is true or false', ...overtaken },
    examples: [{}, { query: { metadata: 'true' } }],
  }),
  deleteApiKey: route({
    ...ownOrWallet,
    method: 'DELETE',
    path: '/auth/api-key',
    headers: ['X-Revocation-Pending'],
    repetition: 'brief',
    summary: 'Revoke an API key',
    description:
      'Without `apiKey` the calling key; under L1 always that of the signed nonce, since its signature covers no body.',
    query: Type.Object({ apiKey: optional(uuid) }),
    body: Type.Object({ apiKey: Type.Optional(uuid) }),
    bodyIsOptional: true,
    responses: { 200: ok },
    errors: { ...notFound, ...overtaken },
    examples: [{ body: { apiKey: sample.apiKey } }],
  }),
  getApiKeySettings: route({
    ...own,
    method: 'GET',
    path: '/auth/api-key/settings',
    summary: 'Settings of the calling key',
    responses: { 200: { description: 'Settings.', schema: KeySettings } },
    examples: [{}],
  }),
  setApiKeySettings: route({
    ...own,
    method: 'POST',
    path: '/auth/api-key/settings',
    repetition: 'brief',
    summary: 'Change settings of the calling key',
    body: KeySettings,
    responses: { 200: { description: 'Settings after the change.', schema: KeySettings } },
    errors: { 400: 'invalid request: self_trade is one of {values}' },
    examples: [{ body: { self_trade: 'cancel_oldest' } }],
  }),
  createReadOnlyKey: route({
    ...own,
    method: 'POST',
    path: '/auth/readonly-api-key',
    limits: ['new-keys'],
    repetition: 'refused',
    summary: 'Create a read-only key',
    responses: { 200: { description: 'The key.', schema: ReadOnlyKey } },
    errors: { ...tooMany, ...reserved },
    examples: [{}],
  }),
  listReadOnlyKeys: route({
    ...own,
    method: 'GET',
    path: '/auth/readonly-api-keys',
    summary: 'The read-only keys of the wallet',
    responses: { 200: { description: 'Keys.', schema: Type.Array(uuid) } },
    errors: { 403: 'this API key may only read' },
    examples: [{}],
  }),
  deleteReadOnlyKey: route({
    ...own,
    method: 'DELETE',
    path: '/auth/readonly-api-key',
    headers: ['X-Revocation-Pending'],
    repetition: 'harmless',
    summary: 'Delete a read-only key',
    query: Type.Object({ key: optional(uuid) }),
    body: namedKey,
    bodyIsOptional: true,
    responses: {
      200: { description: 'Deleted.', schema: KeyDeleted, mounted: Type.Literal(true) },
    },
    errors: notFound,
    examples: [{ body: { key: sample.apiKey } }],
  }),
  validateReadOnlyKey: route({
    ...base,
    auth: ['none'],
    method: 'GET',
    path: '/auth/validate-readonly-api-key',
    summary: 'Whether a read-only key opens the private reads of an address',
    query: Type.Object({
      address: optional(Type.String({ description: 'Address of the wallet.' })),
      key: optional(Type.String({ description: 'The key.' })),
    }),
    responses: { 200: { description: 'Whether it does.', schema: KeyValidity } },
    examples: [{ query: { address: sample.wallet, key: sample.apiKey } }],
  }),
  createBuilderKey: route({
    ...own,
    method: 'POST',
    path: '/auth/builder-api-key',
    limits: ['new-keys'],
    repetition: 'refused',
    summary: 'Create a builder key',
    responses: { 200: { description: 'The key, and what signs with it.', schema: BuilderKey } },
    errors: { ...tooMany, ...reserved },
    examples: [{}],
  }),
  listBuilderKeys: route({
    ...base,
    auth: ['l2', 'readOnlyKey'],
    method: 'GET',
    path: '/auth/builder-api-key',
    summary: 'The builder keys of the wallet, revoked ones too',
    responses: { 200: { description: 'Keys.', schema: Type.Array(BuilderKeyFacts) } },
    examples: [{}],
  }),
  deleteBuilderKey: route({
    ...base,
    auth: ['builderKey', 'l2'],
    method: 'DELETE',
    path: '/auth/builder-api-key',
    headers: ['X-Revocation-Pending'],
    repetition: 'brief',
    summary: 'Revoke builder keys',
    description: 'The key of the builder headers; under L2 the one that `key` names, or all.',
    query: Type.Object({ key: optional(uuid) }),
    body: namedKey,
    bodyIsOptional: true,
    responses: { 200: ok },
    errors: notFound,
    examples: [{ body: { key: sample.apiKey } }],
  }),
  getClosedOnly: route({
    ...base,
    auth: ['l2', 'readOnlyKey'],
    method: 'GET',
    path: '/auth/ban-status/closed-only',
    summary: 'Whether the wallet may only close positions',
    description: 'True for banned wallets too.',
    responses: { 200: { description: 'In both spellings.', schema: ClosedOnlyResponse } },
    examples: [{}],
  }),
} as const;
