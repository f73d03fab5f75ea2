import {
  type ApiKeyId,
  parseApiKeyId,
  parseWalletAddress,
  type WalletAddress,
} from '@pm/schemas/ids';
import { headers as names } from '@pm/schemas/signing';
import { headerText, type RawHeaders } from './auth-headers.ts';
import { claimsApiKey } from './key-claim.ts';
import type { KeyVerifier } from './key-verifier.ts';
import type { ReadKeyDirectory } from './read-key-directory.ts';
import type { SignedRequest } from './request-hmac.ts';

/** The reader of a wallet's private data. */
export interface Reader {
  readonly wallet: WalletAddress;
  /** Null for a read-only key. */
  readonly apiKey: ApiKeyId | null;
}

/** Checks the headers of a private read; null when they prove nothing. */
export type ReaderVerifier = (
  request: SignedRequest & { readonly headers: RawHeaders },
) => Reader | null;

/** Whether the request has a read-only key, valid or not. */
export function showsReadKey(raw: RawHeaders): boolean {
  return raw[names.readOnlyKey.toLowerCase()] !== undefined;
}

/** The wallet whose private reads the read-only key allows; null when it allows none (conventions.md 2.5). */
export function readKeyWallet(raw: RawHeaders, keys: ReadKeyDirectory): WalletAddress | null {
  const address = parseWalletAddress(headerText(raw, names.address));
  const shown = parseApiKeyId(headerText(raw, names.readOnlyKey));
  if (address === null || shown === null) return null;
  const key = keys.find(shown);
  return key?.active === true && key.wallet === address ? address : null;
}

/**
 * Private reads are allowed for an API key proven by its five headers, and for a read-only key sent with its wallet's
 * address. A request that names an API key is judged by that key alone.
 */
export function openReaderVerifier(
  verify: KeyVerifier,
  readKeys: ReadKeyDirectory,
): ReaderVerifier {
  return (request) => {
    const { headers } = request;
    if (!showsReadKey(headers) || claimsApiKey(headers)) {
      return verify(request);
    }
    const wallet = readKeyWallet(headers, readKeys);
    return wallet === null ? null : { wallet, apiKey: null };
  };
}
