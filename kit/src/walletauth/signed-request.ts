import { createHmac, timingSafeEqual } from 'node:crypto';
import { familyMounts } from '@pm/schemas';
import type { KeyClaim } from './claim.ts';

/** The facts of a request that its HMAC covers. */
export interface SignedRequest {
  /** Upper case. */
  readonly method: string;
  /** As it arrived, with the query. */
  readonly url: string;
  /** The bytes as received; empty when there is no body. */
  readonly body: Buffer;
}

const quote = 0x27;
const doubleQuote = 0x22;

/**
 * Whether the digest is the HMAC of the request under the secret. Tried in the order of likelihood, each form that some
 * published client signs: the path without query as it arrived, without its mount (K-TS, K-PY, P-TS2 sign the route
 * only), with the query (older clients); and each with `'` read as `"` (K-PY, K-RS). (docs/conventions.md 1.0, 2.2.)
 */
export function isSignedBy(
  secret: Buffer,
  claim: Pick<KeyClaim, 'timestamp' | 'digest'>,
  request: SignedRequest,
): boolean {
  for (const body of signedBodies(request.body)) {
    for (const path of signedPaths(request.url)) {
      const text = claim.timestamp + request.method + path;
      const digest = createHmac('sha256', secret).update(text).update(body).digest();
      if (timingSafeEqual(digest, claim.digest)) return true;
    }
  }
  return false;
}

/** The forms of the path that may be signed, the likeliest first. */
export function signedPaths(url: string): readonly string[] {
  const path = url.split('?', 1)[0] ?? url;
  const mount = Object.values(familyMounts).find((prefix) => path.startsWith(`${prefix}/`));
  const paths = mount === undefined ? [path] : [path, path.slice(mount.length)];
  return path === url ? paths : [...paths, url];
}

function signedBodies(body: Buffer): readonly Buffer[] {
  if (!body.includes(quote)) return [body];
  return [body, Buffer.from(body.map((byte) => (byte === quote ? doubleQuote : byte)))];
}
