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
/** Servers before 7.0 answer so when a command of a script is refused before it does anything. */
const replyClassInScript =
  /^ERR Error running script \(call to f_[\da-f]+\): @user_script:\d+: @user_script: \d+: -([A-Z]{2,20}) /;

/** Replies of a server that is no primary: nothing was written, nor read. */
const demoted = new Set(['MASTERDOWN', 'READONLY']);

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

/** Whether a server answered that it is no primary, so that the command had no effect and belongs to another server. */
export function isFromDemoted(error: unknown): boolean {
  return (
    error instanceof Error && error.name === 'ReplyError' && demoted.has(classOf(error.message))
  );
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
  const found = replyClassInScript.exec(message) ?? replyClass.exec(message);
  return found?.[1] ?? 'ERR';
}
