import type { ApiKeyTrio } from '@pm/schemas/http/trading';
import { headers as names } from '@pm/schemas/signing';
import { ExchangeError } from './errors.ts';
import { base64Bytes, hmacText } from './platform.ts';

export type Query = Readonly<Record<string, string | undefined>>;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Without the query, which is not signed. */
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpOptions {
  readonly baseUrl: string;
  /** Timeout of one attempt. Default 15 s: longer than any bounded wait of the exchange. */
  readonly timeoutMs?: number;
  /** Called with the head of each response. */
  readonly onHead?: (head: ResponseHead) => void;
}

/** Names of headers are in lower case. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** An API key and whose it is; the address may have any case. */
export type KeyOfWallet = ApiKeyTrio & { readonly address: string };

/** Timeout of one attempt: longer than any bounded wait of the exchange. */
export const defaultTimeoutMs = 15_000;

/** Takes the `Date` of each response. */
export interface DateReader {
  note(date: string | null, times: { readonly sentMs: number; readonly receivedMs: number }): void;
}

/** One attempt of a request; JSON in, JSON out. Throws `ExchangeError` on any response but 2xx, and without one. */
export async function request<T>(
  options: HttpOptions,
  sent: HttpRequest,
  dates?: DateReader,
): Promise<T> {
  const sentMs = performance.now();
  const { response, text } = await exchange(options, sent);
  dates?.note(response.headers.get('date'), { sentMs, receivedMs: performance.now() });
  const headers = Object.fromEntries(response.headers);
  options.onHead?.({ status: response.status, headers });
  const body = parseBody(text);
  if (response.ok) return body as T;
  const retryAfter = Number(response.headers.get('retry-after'));
  const retryAfterSeconds = retryAfter > 0 ? retryAfter : null;
  throw new ExchangeError(response.status, body, { retryAfterSeconds, headers });
}

async function exchange(
  options: HttpOptions,
  sent: HttpRequest,
): Promise<{ response: Response; text: string }> {
  const url = new URL(options.baseUrl + sent.path);
  for (const [name, value] of Object.entries(sent.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), options.timeoutMs ?? defaultTimeoutMs);
  try {
    const response = await fetch(url, {
      method: sent.method,
      headers: { 'content-type': 'application/json', ...sent.headers },
      body: sent.body === undefined ? null : bodyText(sent.body),
      signal: timeout.signal,
    });
    return { response, text: await response.text() };
  } catch (cause) {
    const error = `no answer to ${sent.method} ${sent.path}`;
    throw new ExchangeError(0, { error, code: 'no_answer' }, { cause });
  } finally {
    clearTimeout(timer);
  }
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

/** Headers that prove an API key (conventions.md 2.2): HMAC over the timestamp in milliseconds, the
 * method, the path without query, and the body. */
export function l2Headers(
  key: KeyOfWallet,
  sent: HttpRequest,
  nowMs: number,
): Record<string, string> {
  const body = sent.body === undefined ? '' : bodyText(sent.body);
  return signedHeaders(key, { ...sent, body }, nowMs);
}

/** Headers that prove an API key (conventions.md 2.2), for a body that is sent as these very bytes. */
export function signedHeaders(
  key: KeyOfWallet,
  sent: { readonly method: string; readonly path: string; readonly body: string },
  nowMs: number,
): Record<string, string> {
  const timestamp = String(nowMs);
  const digest = hmacText(base64Bytes(key.secret), timestamp + sent.method + sent.path + sent.body);
  return {
    [names.address]: key.address,
    [names.apiKey]: key.apiKey,
    [names.passphrase]: key.passphrase,
    [names.timestamp]: timestamp,
    [names.signature]: digest,
  };
}
