/** Sends a request to an operator's listener: a read, or with a body a POST. */
export async function askOperator(
  { port }: { readonly port: number },
  token: string,
  path: string,
  body?: object,
) {
  const response = await fetch(`http://127.0.0.1:${port}/operator/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as never };
}
