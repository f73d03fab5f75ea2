import { createHash, randomUUID } from 'node:crypto';
import { unlessUnavailable } from '@pm/domain/requests/requests.io';
import { answeredHeader, placesText, refuse } from '@pm/kit/http';
import type { WalletAddress } from '@pm/schemas/ids';
import type { RetryKind } from '@pm/schemas/redis/cache';
import { retryLimits } from '@pm/schemas/redis/keys';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { FastifyReply } from 'fastify';
import type { IdempotencyKey, IdempotencyKeys } from './idempotency-keys.io.ts';

/** The identity of a request with an idempotency key: the same caller, route and key are the same request. */
export interface IdempotentRequest {
  /** Whose keys these are: the API key, or the wallet of an account action. */
  readonly caller: string;
  /** Whose memory the key takes. */
  readonly wallet: WalletAddress;
  /** Only actions have an identity on the log that every retry shares. */
  readonly kind: RetryKind;
  readonly route: string;
  /** As the client gave it. */
  readonly key: string;
  /** The meaning of the request; the same key with another meaning is refused. */
  readonly meaning: string;
  /**
   * Fields of the request that every response repeats. They are added when it is sent and never stored: a key may be
   * among them.
   */
  readonly repeated?: Readonly<Record<string, string>>;
}

/** The stored keys; tests keep them in memory. Every call rejects with a `Fault` (retry) when Redis is unavailable. */
export type IdempotencyMemory = Pick<IdempotencyKeys, keyof IdempotencyKeys>;

/** An attempt at a request with an idempotency key. */
export interface Attempt {
  /** The list of what an earlier, broken attempt was about to send; empty when it recorded none. */
  readonly sent: string;
  /**
   * Stores what is about to be sent. False: another process carries on, nothing must be sent. Throws `Fault`s of Redis.
   */
  record(sent: string): Promise<boolean>;
}

/**
 * The response of an attempt. `final` is the response for ever; `open` may still become one, and the next retry asks
 * again; `nothing` changed nothing, and the next retry starts from scratch.
 */
export interface HttpResponse {
  readonly kind: 'final' | 'open' | 'nothing';
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/**
 * Carries a request out once per idempotency key, whichever ingress it reaches and whatever fails (conventions.md
 * 3.9).
 */
export async function idempotent(
  identity: IdempotentRequest,
  { keys, reply }: { readonly keys: IdempotencyMemory; readonly reply: FastifyReply },
  run: (attempt: Attempt) => Promise<HttpResponse>,
): Promise<FastifyReply> {
  const key = keyOf(identity);
  const began = await unlessUnavailable(() => keys.begin(key));
  if (began === null) return refuse(reply, 'retries_unavailable');
  const { repeated } = identity;
  if (began.kind === 'done') return replay(began.text, { reply, repeated });
  // The log carries the id of an action out once, whatever is remembered; a retry of orders signs others.
  if (began.kind === 'fullForAll' && identity.kind === 'actions') {
    const { body, ...response } = await run(unremembered);
    return send({ ...response, body: withRepeated(body, repeated) }, reply);
  }
  const refusal = refusalOf(began.kind);
  if (refusal !== null) return refuse(reply, refusal);
  const isResumed = began.kind === 'resumed';
  const response = await run({ sent: began.text, record: (sent) => keys.record(key, sent) });
  // When the response cannot be stored now, the next retry asks the log again.
  const places = placesText(reply.request.answerPlaces.all());
  await unlessUnavailable(() => conclude({ ...response, places }, { key, isResumed }, keys));
  return send({ ...response, body: withRepeated(response.body, repeated) }, reply);
}

const unremembered: Attempt = { sent: '', record: async () => true };

/** Sends a response without an idempotency key, or the first one of a key. */
export function send({ status, headers, body }: HttpResponse, reply: FastifyReply): FastifyReply {
  return reply
    .code(status)
    .headers(headers ?? {})
    .send(body);
}

function keyOf({ caller, wallet, kind, route, key, meaning }: IdempotentRequest): IdempotencyKey {
  const digest = sha256(`${caller}\n${route}\n${key}`);
  return { wallet, kind, digest, fingerprint: sha256(meaning), token: randomUUID() };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function refusalOf(
  kind: Awaited<ReturnType<IdempotencyMemory['begin']>>['kind'],
): RefusalCode | null {
  if (kind === 'reused') return 'idempotency_key_reused';
  if (kind === 'running') return 'idempotency_in_progress';
  if (kind === 'fullForAll') return 'retries_unavailable';
  return kind === 'full' ? 'too_many_retry_keys' : null;
}

async function conclude(
  { kind, status, body, places }: HttpResponse & { readonly places: string },
  { key, isResumed }: { readonly key: IdempotencyKey; readonly isResumed: boolean },
  keys: IdempotencyMemory,
): Promise<void> {
  // An earlier attempt of a resumed request may be on the log, whatever this one came to: its key keeps its meaning.
  if (kind === 'nothing') return await (isResumed ? keys.yield(key) : keys.forget(key));
  const text = kind === 'final' ? JSON.stringify({ status, body, places }) : '';
  const isKept = kind === 'final' && Buffer.byteLength(text) <= retryLimits.answerMaxBytes;
  await (isKept ? keys.finish(key, text) : keys.yield(key));
}

function replay(
  text: string,
  {
    reply,
    repeated,
  }: { readonly reply: FastifyReply; readonly repeated: IdempotentRequest['repeated'] },
): FastifyReply {
  const kept = JSON.parse(text) as { status: number; body: unknown; places: string };
  const { status, body, places } = kept;
  // Another process may have read as far; this one perhaps not yet.
  const headers = {
    'idempotent-replayed': 'true',
    ...(places === '' ? {} : { [answeredHeader]: places }),
  };
  return send({ kind: 'final', status, headers, body: withRepeated(body, repeated) }, reply);
}

function withRepeated(body: unknown, repeated: IdempotentRequest['repeated']): unknown {
  return repeated === undefined ? body : { ...(body as object), ...repeated };
}
