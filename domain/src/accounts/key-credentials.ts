import { parseApiKeyId, type WalletAddress } from '@pm/schemas/ids';
import { headers as names } from '@pm/schemas/signing';
import { headerText, type RawHeaders } from './auth-headers.ts';
import type { KeyDirectory } from './key-directory.ts';
import type { KeyVerifier } from './key-verifier.ts';
import type { SignedRequest } from './request-hmac.ts';

type Arrived = Omit<SignedRequest, 'body'> & {
  readonly headers: RawHeaders;
  readonly rawBody: Buffer;
};

/** The five headers of an API key as credentials of the rate limits: a request with a key counts for that key. */
export function keyCredentials(verify: KeyVerifier, keys: Pick<KeyDirectory, 'find'>) {
  const name = names.apiKey.toLowerCase();
  const claimedKey = (headers: RawHeaders) => parseApiKeyId(headerText(headers, name));
  return {
    claims: (headers: RawHeaders): boolean => headers[name] !== undefined,
    claimed: (headers: RawHeaders): string => claimedKey(headers) ?? '',
    claimedPayer(headers: RawHeaders): WalletAddress | null {
      const key = claimedKey(headers);
      return key === null ? null : (keys.find(key)?.wallet ?? null);
    },
    prove({ method, url, headers, rawBody: body }: Arrived) {
      const holder = verify({ method, url, headers, body });
      if (holder === null) return null;
      const { apiKey, wallet } = holder;
      return { kind: 'key', id: apiKey, wallet, payer: wallet } as const;
    },
  };
}

/**
 * A verifier that checks each request once: the limiter needs the caller before the route does. A request is
 * identified by its headers object, which Node creates once. Call it only when the body is complete: the first
 * verdict stays.
 */
export function oncePerRequest<R extends { readonly headers: object }, V>(
  verify: (request: R) => V,
): (request: R) => V {
  const verdicts = new WeakMap<object, { readonly verdict: V }>();
  return (request) => {
    const known = verdicts.get(request.headers);
    if (known !== undefined) return known.verdict;
    const verdict = verify(request);
    verdicts.set(request.headers, { verdict });
    return verdict;
  };
}
