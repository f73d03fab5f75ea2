/** A response of the exchange that is no success; status 0: there was none. */
class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const timeoutMs = 8_000;

/** The address of the exchange: that of the page. */
export const origin = location.origin;

/** Reads JSON from the public API. Throws `ApiError`. */
export async function getJson<T>(path: string, query: Query = {}): Promise<T> {
  const url = new URL(path, origin);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  } catch {
    throw new ApiError(0, 'the exchange does not answer');
  }
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(response.status, messageOf(body, response.status));
  return body as T;
}

function messageOf(body: unknown, status: number): string {
  const error = (body as { readonly error?: unknown } | null)?.error;
  return typeof error === 'string' ? error : `status ${status}`;
}

/** Text of an error for a person. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
