import { createHmac, timingSafeEqual } from 'node:crypto';
import { familyMounts } from '@pm/schemas/routes/route';
import type { KeyProof } from './key-claim.ts';

/** The facts of a request that its HMAC covers, or may cover. */
export interface SignedRequest {
  /** Upper case. */
  readonly method: string;
  /** As it arrived, with the query. */
  readonly url: string;
  /** The bytes as received; empty when there is no body. */
  readonly body: Buffer;
}

/** The parts that a valid signature covers besides timestamp, method, path and body. */
export interface Coverage {
  /**
   * Whether it covers the body byte for byte. False when it covers the body with `'` read as `"`: then a proxy may
   * have changed some quotes, and with them the boundaries between texts of a JSON body.
   */
  readonly exactBody: boolean;
  /** Whether it covers the value of `Idempotency-Key`: no other party can have set it. */
  readonly idempotencyKey: boolean;
  /** Whether it covers the query; true where there is none. False for clients that sign the path alone. */
  readonly query: boolean;
}

/** The coverage of a proof that signs nothing of the request. */
export const coversNothing: Coverage = { exactBody: false, idempotencyKey: false, query: false };

const quote = 0x27;
const doubleQuote = 0x22;

/**
 * The coverage of a digest that is the HMAC of the request under the secret; null for any other digest. The forms
 * that published clients sign are tried in the order of likelihood: the path without query as it arrived, without its
 * mount (K-TS, K-PY, P-TS2 sign the route only), with the query (older clients); and each with `'` read as `"` (K-PY,
 * K-RS). Then, with an idempotency key, a line feed and that key after the body as it arrived, which no JSON text can
 * equal. A valid signature of the likeliest form costs one HMAC and no copy. (conventions.md 1.2, 2.2.) `likeliest`:
 * tries that form alone, for callers who prove nothing anyway.
 */
export function coverageOf(
  secret: Buffer,
  claim: Pick<KeyProof, 'timestamp' | 'digest'>,
  request: SignedRequest & {
    readonly idempotencyKey: string;
    readonly tried?: 'all' | 'likeliest';
  },
): Coverage | null {
  const { timestamp, digest } = claim;
  for (const { path, body, coverage } of signedForms(request)) {
    const text = timestamp + request.method + path;
    const wanted = createHmac('sha256', secret).update(text).update(body).digest();
    if (timingSafeEqual(wanted, digest)) return coverage;
    if (request.tried === 'likeliest') return null;
  }
  return null;
}

interface SignedForm {
  readonly path: string;
  readonly body: Buffer;
  readonly coverage: Coverage;
}

/** The forms of a request that may be signed, the likeliest first: each costs a hash of the body. At most twelve. */
export function* signedForms({
  url,
  body: received,
  idempotencyKey,
}: Omit<SignedRequest, 'method'> & { readonly idempotencyKey: string }): Generator<SignedForm> {
  for (const body of signedBodies(received)) {
    const exactBody = body === received;
    for (const { path, query } of signedPaths(url))
      yield { path, body, coverage: { exactBody, idempotencyKey: false, query } };
  }
  if (idempotencyKey === '') return;
  const body = Buffer.concat([received, Buffer.from(`\n${idempotencyKey}`)]);
  for (const { path, query } of signedPaths(url))
    yield { path, body, coverage: { exactBody: true, idempotencyKey: true, query } };
}

const mounts = Object.values(familyMounts);

/** The forms of the path that may be signed, the likeliest first; later ones are computed only when needed. */
export function* signedPaths(
  url: string,
): Generator<{ readonly path: string } & Pick<Coverage, 'query'>> {
  const path = pathOf(url);
  const hasNoQuery = path === url;
  yield { path, query: hasNoQuery };
  const mount = mounts.find((prefix) => path.startsWith(`${prefix}/`));
  if (mount !== undefined) yield { path: path.slice(mount.length), query: hasNoQuery };
  if (hasNoQuery) return;
  yield { path: url, query: true };
  if (mount !== undefined) yield { path: url.slice(mount.length), query: true };
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** The forms of the body that may be signed. The second one is computed only when needed. */
function* signedBodies(body: Buffer): Generator<Buffer> {
  yield body;
  if (!body.includes(quote)) return;
  yield Buffer.from(body.map((byte) => (byte === quote ? doubleQuote : byte)));
}
