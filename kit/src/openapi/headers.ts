import type { ResponseHeader } from '@pm/schemas/routes/route';
import { firstSentHeader, headers, timeToBookHeader, validUntilHeader } from '@pm/schemas/signing';

/** Headers and security schemes of the documents (conventions.md 3.9, 2 and 1.7). */
const header = (description: string, schema: object = { type: 'string' }) => ({
  description,
  schema,
});
const whole = { type: 'integer', minimum: 0 };

export const responseHeaders: Readonly<Record<string, object>> = {
  'X-Request-Id': header('The id of the request: the caller’s when it is harmless.'),
  'RateLimit-Limit': header('Units of the tightest limit of this request.', whole),
  'RateLimit-Remaining': header('Units that are left of it.', whole),
  'RateLimit-Reset': header('Seconds until its window ends.', whole),
  'Retry-After': header('Seconds after which the same request may succeed.', whole),
  'WWW-Authenticate': header('How to prove who calls.'),
  Age: header('Seconds since the answer was read or computed.', whole),
  'X-Complete-Through': header('All that happened before this moment is in the answer.'),
  'X-Behind': header('`true`: it may lack something of what the client was answered before.'),
  'X-Revocation-Pending': header('Processes that may still admit the key, or `unknown`.'),
  'Server-Timing': header('Milliseconds of each stage.'),
  'Idempotent-Replayed': header('`true`: the first response to this key.'),
} satisfies Record<ResponseHeader | (string & {}), object>;

export const requestHeaders = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'The same key again gets the first response, for an hour.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  },
  TimeToBook: {
    name: timeToBookHeader,
    in: 'header',
    required: false,
    description: 'Milliseconds after which the orders of this request no longer reach the book.',
    schema: { type: 'string', pattern: '^[1-9][0-9]{0,8}$' },
  },
  ValidUntil: {
    name: validUntilHeader,
    in: 'header',
    required: false,
    description:
      'Unix milliseconds after which the orders of this request no longer reach the book: the same in each retry.',
    schema: { type: 'string', pattern: '^[1-9][0-9]{12}$' },
  },
  FirstSent: {
    name: firstSentHeader,
    in: 'header',
    required: false,
    description:
      'Unix milliseconds at which the first attempt was sent: the orders count as accepted then, for fences and the time to book. The same in each retry.',
    schema: { type: 'string', pattern: '^[1-9][0-9]{12}$' },
  },
} as const;

const inHeader = (name: string, description: string) => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
});
const address = inHeader(headers.address, 'Address of the wallet.');
const timestamp = inHeader(headers.timestamp, 'Unix seconds, at most 300 off.');

export const publicSchemes: Readonly<Record<string, object>> = {
  Address: address,
  Timestamp: timestamp,
  Signature: inHeader(
    headers.signature,
    'L1: EIP-712 signature of the wallet. L2: HMAC-SHA256 under the secret of the key (conventions.md, Authentication).',
  ),
  ApiKey: inHeader(headers.apiKey, 'The API key.'),
  Passphrase: inHeader(headers.passphrase, 'The passphrase of the API key.'),
  ReadOnlyApiKey: inHeader(headers.readOnlyKey, 'A read-only key, sent as it is.'),
  BuilderApiKey: inHeader(headers.builderApiKey, 'A builder key.'),
  BuilderPassphrase: inHeader(headers.builderPassphrase, 'Its passphrase.'),
  BuilderTimestamp: inHeader(headers.builderTimestamp, 'Unix seconds.'),
  BuilderSignature: inHeader(headers.builderSignature, 'HMAC-SHA256 under its secret.'),
  Agent: { type: 'http', scheme: 'bearer', description: 'The key of an agent: `pro_…`.' },
};

export const operatorSchemes: Readonly<Record<string, object>> = {
  Operator: { type: 'http', scheme: 'bearer', description: 'The token of an operator.' },
};

/** Schemes that a proof is made of, all of them together. */
export const schemesOf = {
  none: [],
  l1: ['Address', 'Signature', 'Timestamp'],
  l2: ['Address', 'ApiKey', 'Passphrase', 'Timestamp', 'Signature'],
  readOnlyKey: ['Address', 'ReadOnlyApiKey'],
  builderKey: ['BuilderApiKey', 'BuilderPassphrase', 'BuilderTimestamp', 'BuilderSignature'],
  agent: ['Agent'],
  operator: ['Operator'],
} as const;
