import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { RegistryAddress } from './address.ts';

/** One request takes at most this long, milliseconds: the first one of a registry that has just started is slow. */
export const registryTimeoutMs = 20_000;

/** Longest response, bytes: a schema has some kilobytes. */
const responseBytesMax = 4 << 20;
const maxErrorChars = 300;

interface RegistryRequest {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly body?: string | Uint8Array;
  /** Media type of the body; that of Confluent's API without it. */
  readonly type?: string;
  readonly more?: Readonly<Record<string, string>>;
}

/** A response of the registry. */
export interface RegistryResponse {
  readonly status: number;
  readonly text: string;
}

/**
 * One request to the registry; a GET may find nothing (404). Rejects with an `Error` that has the `status` of any other
 * response, or none without a response.
 */
export async function askRegistry(
  address: RegistryAddress,
  path: string,
  init: RegistryRequest = { method: 'GET' },
): Promise<RegistryResponse> {
  const response = await send(address, path, init);
  const isOk = response.status >= 200 && response.status < 300;
  const isMissing = init.method === 'GET' && response.status === 404;
  if (isOk || isMissing) return response;
  const text = response.text.slice(0, maxErrorChars);
  throw Object.assign(new Error(text), { status: response.status });
}

/** The status of the response that an error stands for; null without a response. */
export function statusOf(error: unknown): number | null {
  const status = error instanceof Error ? Reflect.get(error, 'status') : null;
  return typeof status === 'number' ? status : null;
}

/** Not by `fetch`, which takes no authorities of its own. */
function send(
  address: RegistryAddress,
  path: string,
  { method, body, type, more }: RegistryRequest,
): Promise<RegistryResponse> {
  const url = new URL(`${address.url}${path}`);
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const tls = address.ca === null ? {} : { ca: address.ca };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(registryTimeoutMs);
    const headers = { ...headersOf(address, type), ...more };
    const sent = request(url, { method, headers, signal, ...tls });
    sent.once('response', (response) => collect(response).then(resolve, reject));
    sent.once('error', reject);
    sent.end(body);
  });
}

async function collect(response: IncomingMessage): Promise<RegistryResponse> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    byteCount += chunk.length;
    if (byteCount > responseBytesMax) throw new Error('a response of the registry is too large');
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') };
}

/** With the user and password of the address. */
function headersOf(
  { auth }: RegistryAddress,
  type = 'application/vnd.schemaregistry.v1+json',
): Record<string, string> {
  const headers = { accept: 'application/json', 'content-type': type };
  if (auth === null) return headers;
  const pair = Buffer.from(`${auth.username}:${auth.password}`).toString('base64');
  return { ...headers, authorization: `Basic ${pair}` };
}
