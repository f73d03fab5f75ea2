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
 * equal. A valid signature of the likeliest form costs one HMAC and no copy. (conventions.md 1.2, 2.2.)
 */
export function coverageOf(
  secret: Buffer,
  claim: Pick<KeyProof, 'timestamp' | 'digest'>,
  request: SignedRequest & { readonly idempotencyKey: string },
): Coverage | null {
  for (const body of signedBodies(request.body)) {
    if (!isSigned(secret, claim, { ...request, body })) continue;
    return { exactBody: body === request.body, idempotencyKey: false };
  }
  if (request.idempotencyKey === '') return null;
  const key = Buffer.from(`\n${request.idempotencyKey}`);
  const covered = { ...request, body: Buffer.concat([request.body, key]) };
  return isSigned(secret, claim, covered) ? { exactBody: true, idempotencyKey: true } : null;
}

function isSigned(
  secret: Buffer,
  { timestamp, digest }: Pick<KeyProof, 'timestamp' | 'digest'>,
  { method, url, body }: SignedRequest,
): boolean {
  for (const path of signedPaths(url)) {
    const text = timestamp + method + path;
    const wanted = createHmac('sha256', secret).update(text).update(body).digest();
    if (timingSafeEqual(wanted, digest)) return true;
  }
  return false;
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
