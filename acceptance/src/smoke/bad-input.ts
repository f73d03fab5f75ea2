import type { ApiKeyTrio } from '@pm/schemas/http/trading';
import { headers as names } from '@pm/schemas/signing';

/** Requests of careless or hostile clients. Each must get a status below 500 and a JSON error. */
interface BadRequest {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
}

const order = (fields: string) =>
  `{"order":{"salt":"1","maker":"0x0000000000000000000000000000000000000001","signer":"0x0000000000000000000000000000000000000001",` +
  `"tokenId":"1","makerAmount":"5000000","takerAmount":"10000000","side":"BUY","signatureType":0,"timestamp":"1782753357257",` +
  `"signature":"0x${'1'.repeat(130)}"${fields}},"owner":"9180014b-33c8-4240-a14b-bdca11c0a465","orderType":"GTC"}`;

const requests: readonly BadRequest[] = [
  { name: 'broken JSON', method: 'POST', path: '/order', body: '{"order":' },
  {
    name: 'an amount as a number',
    method: 'POST',
    path: '/order',
    body: order(',"makerAmount":5000000'),
  },
  { name: 'an exponent', method: 'POST', path: '/order', body: order(',"makerAmount":"5e6"') },
  {
    name: 'a huge integer',
    method: 'POST',
    path: '/order',
    body: order(`,"makerAmount":"${'9'.repeat(400)}"`),
  },
  {
    name: 'a prototype key',
    method: 'POST',
    path: '/order',
    body: order(',"__proto__":{"admin":true}'),
  },
  { name: 'no credentials', method: 'POST', path: '/order', body: order('') },
  { name: 'an empty batch', method: 'POST', path: '/orders', body: '[]' },
  { name: 'an object for a batch', method: 'POST', path: '/orders', body: '{}' },
  { name: 'deep nesting', method: 'POST', path: '/orders', body: '['.repeat(5_000) },
  {
    name: 'a form',
    method: 'POST',
    path: '/order',
    body: 'a=b',
    contentType: 'application/x-www-form-urlencoded',
  },
  { name: 'an unknown token', method: 'GET', path: '/book?token_id=42' },
  { name: 'a token that is none', method: 'GET', path: '/book?token_id=0x%27%20OR%201=1' },
  { name: 'no user', method: 'GET', path: '/positions' },
  { name: 'a limit beyond the bounds', method: 'GET', path: '/holders?market=0x00&limit=100000' },
  { name: 'no such path', method: 'GET', path: '/no/such/path' },
  { name: 'a path that cannot be decoded', method: 'GET', path: '/events/%ff' },
  { name: 'a stray percent sign', method: 'GET', path: '/events?limit=100%' },
  { name: 'a body beyond the limit', method: 'POST', path: '/prices', body: ' '.repeat(200_000) },
];

/** Sends them all; returns the responses that differ from the documents. */
export async function sendBadInput(baseUrl: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const bad of requests) {
    const response = await fetch(baseUrl + bad.path, {
      method: bad.method,
      headers:
        bad.body === undefined ? {} : { 'content-type': bad.contentType ?? 'application/json' },
      body: bad.body ?? null,
    });
    const text = await response.text();
    if (!isDocumented(response.status, text)) {
      wrong.push(`${bad.name}: ${response.status} ${text.slice(0, 120)}`);
    }
  }
  return wrong;
}

/** A signed-looking request with a wrong secret must be a 401, never a 5xx. */
export async function sendForgedKey(
  baseUrl: string,
  key: ApiKeyTrio & { address: string },
): Promise<string[]> {
  const response = await fetch(`${baseUrl}/order`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      [names.address]: key.address,
      [names.apiKey]: key.apiKey,
      [names.passphrase]: key.passphrase,
      [names.timestamp]: String(Math.floor(Date.now() / 1000)),
      [names.signature]: `${'A'.repeat(43)}=`,
    },
    body: order(''),
  });
  return response.status === 401
    ? []
    : [`forged signature: ${response.status} ${await response.text()}`];
}

function isDocumented(status: number, text: string): boolean {
  if (status < 400 || status >= 500) return false;
  try {
    return typeof (JSON.parse(text) as { error?: unknown }).error === 'string';
  } catch {
    return false;
  }
}
