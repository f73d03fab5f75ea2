/**
 * A verifier that checks each request once, whoever asks: the limiter has to know the caller before the route does. A
 * request is known by its headers, which Node makes once. Not before the body is there: the first verdict stays.
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
