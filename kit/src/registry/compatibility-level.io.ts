import { type RegistryAddress, registryHeaders } from './address.ts';

const requestTimeoutMs = 5_000;

/**
 * Gives a subject its compatibility level before its first schema, where it has none of its own. The client sets the
 * level after the schema: a process that ends between the two, or another that starts between them, leaves a subject
 * that shows the registry's general level, and every later start refuses it. A level that was set on purpose stays, and
 * the client refuses it. Rejects with an `Error` that has the `status` of a response, or none without a response.
 */
export async function setUnsetLevel(
  address: RegistryAddress,
  subject: string,
  level: string,
): Promise<void> {
  const path = `/config/${encodeURIComponent(subject)}`;
  const shown = await levelAt(address, path);
  if (shown === level) return;
  if (shown !== null && shown !== (await levelAt(address, '/config'))) return;
  await ask(address, path, { method: 'PUT', body: JSON.stringify({ compatibility: level }) });
}

/** The level that the registry shows there; null where there is none. */
async function levelAt(address: RegistryAddress, path: string): Promise<string | null> {
  const response = await ask(address, path, { method: 'GET' });
  if (response.status === 404) return null;
  const body = (await response.json()) as { readonly compatibilityLevel?: unknown };
  return typeof body.compatibilityLevel === 'string' ? body.compatibilityLevel : null;
}

async function ask(
  address: RegistryAddress,
  path: string,
  init: { readonly method: 'GET' | 'PUT'; readonly body?: string },
): Promise<Response> {
  const response = await fetch(`${address.url}${path}`, {
    ...init,
    headers: registryHeaders(address),
    signal: AbortSignal.timeout(requestTimeoutMs),
    redirect: 'error',
  });
  const isMissing = init.method === 'GET' && response.status === 404;
  if (response.ok || isMissing) return response;
  const text = (await response.text()).slice(0, maxErrorChars);
  throw Object.assign(new Error(text), { status: response.status });
}

const maxErrorChars = 300;
