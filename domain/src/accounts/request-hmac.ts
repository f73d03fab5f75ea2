import { createHmac, timingSafeEqual } from 'node:crypto';
import { familyMounts } from '@pm/schemas';
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
  /** Whether it covers the value of `Idempotency-Key`. */
  readonly idempotencyKey: boolean;
}

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
    const coverage = { exactBody: body === received, idempotencyKey: false };
    for (const path of signedPaths(url)) yield { path, body, coverage };
  }
  if (idempotencyKey === '') return;
  const body = Buffer.concat([received, Buffer.from(`\n${idempotencyKey}`)]);
  const coverage = { exactBody: true, idempotencyKey: true };
  for (const path of signedPaths(url)) yield { path, body, coverage };
}

const mounts = Object.values(familyMounts);

/** The forms of the path that may be signed, the likeliest first; later ones are computed only when needed. */
export function* signedPaths(url: string): Generator<string> {
  const path = pathOf(url);
  yield path;
  const mount = mounts.find((prefix) => path.startsWith(`${prefix}/`));
  if (mount !== undefined) yield path.slice(mount.length);
  if (path === url) return;
  yield url;
  if (mount !== undefined) yield url.slice(mount.length);
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
