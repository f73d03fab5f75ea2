import { createHmac } from 'node:crypto';
import { type ApiKeyId, type ApiKeyTrio, apiKeyFromBytes, type WalletAddress } from '@pm/schemas';

/** An API key with what proves its possession. */
export interface DerivedKey {
  readonly apiKey: ApiKeyId;
  /** 32 bytes; the key of the HMAC. */
  readonly secret: Buffer;
  /** 64 hex digits. */
  readonly passphrase: string;
}

/**
 * The key of a wallet and nonce: always the same, so that no secret is stored anywhere (conventions.md 2.1). The chain
 * is left out on purpose: a wallet is the same on each (ccxt authenticates on one chain and signs orders for another).
 */
export function deriveKey(
  serverSecret: Buffer,
  owner: { readonly wallet: WalletAddress; readonly nonce: string },
): DerivedKey {
  const part = (label: string): Buffer =>
    createHmac('sha256', serverSecret)
      .update(`pm-api-key|${label}|${owner.wallet}|${owner.nonce}`)
      .digest();
  return {
    apiKey: apiKeyFromBytes(asUuid4(part('key').subarray(0, 16))),
    secret: part('secret'),
    passphrase: part('passphrase').toString('hex'),
  };
}

/**
 * The read-only key of a wallet and number: always the same, so that it can be listed though only its hash is stored.
 */
export function deriveReadKey(
  serverSecret: Buffer,
  { wallet, number }: { readonly wallet: WalletAddress; readonly number: number },
): ApiKeyId {
  const bytes = createHmac('sha256', serverSecret)
    .update(`pm-read-key|${wallet}|${number}`)
    .digest();
  return apiKeyFromBytes(asUuid4(bytes.subarray(0, 16)));
}

/** The key as the client gets it: the secret as padded base64url. */
export function trioOf(key: DerivedKey): ApiKeyTrio {
  const secret = key.secret.toString('base64').replaceAll('+', '-').replaceAll('/', '_');
  return { apiKey: key.apiKey, secret, passphrase: key.passphrase };
}

/** Sets the version and variant bits of a random UUID. */
function asUuid4(bytes: Buffer): Buffer {
  const uuid = Buffer.from(bytes);
  uuid.writeUInt8((uuid.readUInt8(6) & 0x0f) | 0x40, 6);
  uuid.writeUInt8((uuid.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuid;
}
