import { Fault } from '../fault/index.ts';

/** Transient error replies; the first word of the reply is its class (redis.io, RESP simple errors). */
const passing = new Set([
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'NOREPLICAS',
  'NOSCRIPT',
  'OOM',
  'READONLY',
  'TRYAGAIN',
]);

const replyClass = /^([A-Z]{2,20}) /;

/**
 * A failed command as a `Fault`: `redis_unavailable` (retry) when there was no answer, `redis_refused` with retry for
 * transient replies (loading, read-only, out of memory) and stop for the others (wrong type, no permission). Facts
 * carry the class of the reply only: its text may quote keys.
 */
export function redisFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const message = error instanceof Error ? error.message : '';
  const reply = error instanceof Error && error.name === 'ReplyError' ? classOf(message) : null;
  if (reply === null) return new Fault('redis_unavailable', 'retry', { cause: error });
  const reaction = passing.has(reply) ? 'retry' : 'stop';
  return new Fault('redis_refused', reaction, { facts: { reply }, cause: error });
}

/** Whether the server answered that it does not have a script any more. */
export function isMissingScript(error: unknown): boolean {
  return error instanceof Fault && error.facts['reply'] === 'NOSCRIPT';
}

/** The results of a pipeline; throws the first fault among them. */
export function resultsOf<V>(
  pairs: readonly (readonly [Error | null, unknown])[] | null,
): readonly V[] {
  if (pairs === null) throw new Fault('redis_unavailable', 'retry');
  return pairs.map(([error, value]) => {
    if (error !== null) throw error;
    return value as V;
  });
}

function classOf(message: string): string {
  return replyClass.exec(message)?.[1] ?? 'ERR';
}
