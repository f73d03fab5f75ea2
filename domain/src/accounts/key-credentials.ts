import { headers as names, parseApiKeyId } from '@pm/schemas';
import { headerText, type RawHeaders } from './auth-headers.ts';
import type { KeyVerifier } from './key-verifier.ts';
import type { SignedRequest } from './request-hmac.ts';

type Arrived = Omit<SignedRequest, 'body'> & {
  readonly headers: RawHeaders;
  readonly rawBody: Buffer;
};

/** The five headers of an API key as credentials of the rate limits: a request with a key counts for that key. */
export function keyCredentials(verify: KeyVerifier) {
  const name = names.apiKey.toLowerCase();
  return {
    claims: (headers: RawHeaders): boolean => headers[name] !== undefined,
    claimed: (headers: RawHeaders): string => parseApiKeyId(headerText(headers, name)) ?? '',
    prove({ method, url, headers, rawBody: body }: Arrived) {
      const holder = verify({ method, url, headers, body });
      if (holder === null) return null;
      return { kind: 'key', id: holder.apiKey, wallet: holder.wallet } as const;
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
