import { createHmac } from 'node:crypto';
import { type ApiKeyTrio, headers as names } from '@pm/schemas';

/** The five headers of a private request (docs/conventions.md 2.2), for a body that is sent as these very bytes. */
export function signedHeaders(
  key: ApiKeyTrio & { readonly address: string },
  request: { readonly method: string; readonly path: string; readonly body: string },
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const digest = createHmac('sha256', Buffer.from(key.secret, 'base64url'))
    .update(timestamp + request.method + request.path + request.body)
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
