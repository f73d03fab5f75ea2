import { Fault } from '../fault/index.ts';

/** The answers of a pipeline; throws the first fault among them. */
export function resultsOf<V>(
  pairs: readonly (readonly [Error | null, unknown])[] | null,
): readonly V[] {
  if (pairs === null) throw new Fault('redis_unavailable', 'retry');
  return pairs.map(([error, value]) => {
    if (error !== null) throw error;
    return value as V;
  });
}
