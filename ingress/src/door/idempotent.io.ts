import { createHash, randomUUID } from 'node:crypto';
import { refuse } from '@pm/kit/http';
import { type RefusalCode, retryLimits } from '@pm/schemas';
import type { FastifyReply } from 'fastify';
import type { RetryKey, RetryKeys } from './ports.io.ts';
import { unlessAway } from './refusals.io.ts';

/** What a request with a retry key is: the same of these three is the same request. */
export interface Retried {
  /** Whose keys these are: the API key, or the wallet of an account action. */
  readonly caller: string;
  readonly route: string;
  /** As the client gave it. */
  readonly key: string;
  /** What it means; the same key with another meaning is refused. */
  readonly meaning: string;
  /** What every answer repeats of the request: added when it is told and never kept, since a key may be among it. */
  readonly repeated?: Readonly<Record<string, string>>;
}

/** A turn at a request with a retry key. */
export interface Turn {
  /** What an earlier turn, which was broken off, was about to send; empty when it had not come so far. */
  readonly attempt: string;
  /** Whether a request of this key was begun before and has no answer. */
  readonly isResumed: boolean;
  /** Keeps what is about to be sent. False: somebody else carries on, nothing must be sent. Throws `Fault`s of Redis. */
  record(attempt: string): Promise<boolean>;
}

/**
 * What a turn came to. `final` is the answer for ever; `open` may still become one, and the next retry asks again;
 * `nothing` changed nothing, and the next one begins anew.
 */
export interface Answered {
  readonly kind: 'final' | 'open' | 'nothing';
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Carries a request out once per retry key, whatever dies and whichever ingress it comes to (conventions.md 1.15). */
export async function runOnce(
  retried: Retried,
  { retries, reply }: { readonly retries: RetryKeys; readonly reply: FastifyReply },
  run: (turn: Turn) => Promise<Answered>,
): Promise<FastifyReply> {
  const key = keyOf(retried);
  const began = await unlessAway(() => retries.begin(key));
  if (began === null) return refuse(reply, 'retries_unavailable');
  const { repeated } = retried;
  if (began.kind === 'done') return replay(began.text, { reply, repeated });
  const refusal = refusalOf(began.kind);
  if (refusal !== null) {
    const max = retryLimits.keysPerCallerMax;
    return refuse(reply, refusal, { max });
  }
  const isResumed = began.kind === 'resumed';
  const answered = await run({
    attempt: began.text,
    isResumed,
    record: (attempt) => retries.record(key, attempt),
  });
  // What cannot be kept now is asked of the log again by the next retry.
  await unlessAway(() => conclude(answered, { key, isResumed }, retries));
  return send({ ...answered, body: withRepeated(answered.body, repeated) }, reply);
}

/** Sends an answer that no retry key belongs to, or the first one of a key. */
export function send({ status, headers, body }: Answered, reply: FastifyReply): FastifyReply {
  return reply
    .code(status)
    .headers(headers ?? {})
    .send(body);
}

function keyOf({ caller, route, key, meaning }: Retried): RetryKey {
  const digest = sha256(`${caller}\n${route}\n${key}`);
  return { caller, digest, fingerprint: sha256(meaning), token: randomUUID() };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function refusalOf(kind: Awaited<ReturnType<RetryKeys['begin']>>['kind']): RefusalCode | null {
  if (kind === 'reused') return 'idempotency_key_reused';
  if (kind === 'running') return 'idempotency_in_progress';
  return kind === 'full' ? 'too_many_retry_keys' : null;
}

async function conclude(
  { kind, status, body }: Answered,
  { key, isResumed }: { readonly key: RetryKey; readonly isResumed: boolean },
  retries: RetryKeys,
): Promise<void> {
  // Of a resumed request an earlier attempt may stand on the log, whatever this one came to: its key keeps its meaning.
  if (kind === 'nothing') return await (isResumed ? retries.yield(key) : retries.forget(key));
  const text = kind === 'final' ? JSON.stringify({ status, body }) : '';
  const isKept = kind === 'final' && Buffer.byteLength(text) <= retryLimits.answerMaxBytes;
  await (isKept ? retries.finish(key, text) : retries.yield(key));
}

function replay(
  text: string,
  { reply, repeated }: { readonly reply: FastifyReply; readonly repeated: Retried['repeated'] },
): FastifyReply {
  const { status, body } = JSON.parse(text) as { status: number; body: unknown };
  const headers = { 'idempotent-replayed': 'true' };
  return send({ kind: 'final', status, headers, body: withRepeated(body, repeated) }, reply);
}

function withRepeated(body: unknown, repeated: Retried['repeated']): unknown {
  return repeated === undefined ? body : { ...(body as object), ...repeated };
}
