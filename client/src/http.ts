import { createHmac } from 'node:crypto';
import { type ApiKeyTrio, headers as names } from '@pm/schemas';

/** What the exchange answered, when it was not a success. `body` is what it said. */
export class ExchangeError extends Error {
  readonly status: number;
  readonly body: unknown;
  /** Seconds after which the same request may succeed; null when it told none. */
  readonly retryAfterSeconds: number | null;

  constructor(status: number, body: unknown, retryAfterSeconds: number | null) {
    super(`${status} ${messageOf(body)}`);
    this.name = 'ExchangeError';
    this.status = status;
    this.body = body;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

function messageOf(body: unknown): string {
  const error = (body as { error?: unknown } | null)?.error;
  return typeof error === 'string' ? error : JSON.stringify(body);
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpOptions {
  readonly baseUrl: string;
  /** Default 15 s: longer than any bounded wait of the exchange. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 15_000;

/** One request; JSON in, JSON out. Throws `ExchangeError` on any answer but 2xx. */
export async function request<T>(options: HttpOptions, sent: HttpRequest): Promise<T> {
  const url = new URL(options.baseUrl + sent.path);
  for (const [name, value] of Object.entries(sent.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  const response = await fetch(url, {
    method: sent.method,
    headers: { 'content-type': 'application/json', ...sent.headers },
    body: sent.body === undefined ? null : bodyText(sent.body),
    signal: AbortSignal.timeout(options.timeoutMs ?? defaultTimeoutMs),
  });
  const text = await response.text();
  const body = parseBody(text);
  if (response.ok) return body as T;
  const retryAfter = Number(response.headers.get('retry-after'));
  throw new ExchangeError(response.status, body, retryAfter > 0 ? retryAfter : null);
}

/** The bytes that are both sent and signed. */
export function bodyText(body: unknown): string {
  return JSON.stringify(body);
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Headers that prove an API key (docs/conventions.md 2.2): HMAC over timestamp, method, path without query, and body. */
export function l2Headers(
  key: ApiKeyTrio & { readonly address: string },
  sent: HttpRequest,
  nowMs: number,
): Record<string, string> {
  const body = sent.body === undefined ? '' : bodyText(sent.body);
  return signedHeaders(key, { ...sent, body }, nowMs);
}

/** The same for a body that is sent as these very bytes. */
export function signedHeaders(
  key: ApiKeyTrio & { readonly address: string },
  sent: { readonly method: string; readonly path: string; readonly body: string },
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const digest = createHmac('sha256', Buffer.from(key.secret, 'base64url'))
    .update(timestamp + sent.method + sent.path + sent.body)
    .digest('base64')
    .replaceAll('+', '-')
    .replaceAll('/', '_');
  return {
    [names.address]: key.address,
    [names.apiKey]: key.apiKey,
    [names.passphrase]: key.passphrase,
    [names.timestamp]: timestamp,
    [names.signature]: digest,
  };
}
