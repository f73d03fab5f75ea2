import type { RegistryAddress } from './address.ts';

/** One request to the registry takes at most this long, milliseconds. */
export const registryTimeoutMs = 5_000;

const maxErrorChars = 300;

/**
 * One request to the registry; a GET may find nothing (404). Rejects with an `Error` that has the `status` of any other
 * response, or none without a response.
 */
export async function askRegistry(
  address: RegistryAddress,
  path: string,
  init: { readonly method: 'GET' | 'PUT'; readonly body?: string } = { method: 'GET' },
): Promise<Response> {
  const response = await fetch(`${address.url}${path}`, {
    ...init,
    headers: headersOf(address),
    signal: AbortSignal.timeout(registryTimeoutMs),
    redirect: 'error',
  });
  const isMissing = init.method === 'GET' && response.status === 404;
  if (response.ok || isMissing) return response;
  const text = (await response.text()).slice(0, maxErrorChars);
  throw Object.assign(new Error(text), { status: response.status });
}

/** With the user and password of the address. */
function headersOf({ auth }: RegistryAddress): Record<string, string> {
  const type = 'application/vnd.schemaregistry.v1+json';
  const headers = { accept: 'application/json', 'content-type': type };
  if (auth === null) return headers;
  const pair = Buffer.from(`${auth.username}:${auth.password}`).toString('base64');
  return { ...headers, authorization: `Basic ${pair}` };
}
