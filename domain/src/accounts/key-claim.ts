import {
  type ApiKeyId,
  parseApiKeyId,
  parseWalletAddress,
  type WalletAddress,
} from '@pm/schemas/ids';
import { headers as names } from '@pm/schemas/signing';
import { headerText, type RawHeaders, readTimestampMs } from './auth-headers.ts';

/** The proof of a key in a request, well-formed but not yet checked. */
export interface KeyProof {
  readonly apiKey: ApiKeyId;
  readonly passphrase: string;
  /** The header's own text: it is part of what is signed. */
  readonly timestamp: string;
  readonly timestampMs: number;
  /** The 32 bytes of the HMAC, whatever encoding they came in. */
  readonly digest: Buffer;
}

/** The claim of a private request, well-formed but not yet checked (conventions.md 2.2). */
export interface KeyClaim extends KeyProof {
  readonly address: WalletAddress;
}

/** Names of the headers of a proof. */
interface ProofHeaders {
  readonly apiKey: string;
  readonly passphrase: string;
  readonly timestamp: string;
  readonly signature: string;
}

const builderHeaders: ProofHeaders = {
  apiKey: names.builderApiKey,
  passphrase: names.builderPassphrase,
  timestamp: names.builderTimestamp,
  signature: names.builderSignature,
};

/** Requests with any of these ask for authentication. */
const privateHeaders = [
  names.address,
  names.apiKey,
  names.passphrase,
  names.timestamp,
  names.signature,
  names.readOnlyKey,
].map((name) => name.toLowerCase());

const hexDigest = /^[0-9a-fA-F]{64}$/;
const base64Digest = /^[A-Za-z0-9+/_-]{43}=?$/;
const passphraseMaxChars = 128;

/**
 * Whether a header of an API key or of a read-only key is present: such a request is refused when its proof is wrong.
 */
export function claimsKey(raw: RawHeaders): boolean {
  return privateHeaders.some((name) => raw[name] !== undefined);
}

/** Whether the request names an API key, valid or not. */
export function claimsApiKey(raw: RawHeaders): boolean {
  return raw[names.apiKey.toLowerCase()] !== undefined;
}

/** The five headers of a private request; null when one is missing, repeated or ill-formed. */
export function readKeyClaim(raw: RawHeaders): KeyClaim | null {
  const address = parseWalletAddress(headerText(raw, names.address));
  const proof = readProof(raw, names);
  return address === null || proof === null ? null : { address, ...proof };
}

/** The four headers that prove a builder's key; they name no wallet (conventions.md 2.5). */
export function readBuilderProof(raw: RawHeaders): KeyProof | null {
  return readProof(raw, builderHeaders);
}

function readProof(raw: RawHeaders, named: ProofHeaders): KeyProof | null {
  const apiKey = parseApiKeyId(headerText(raw, named.apiKey));
  const passphrase = headerText(raw, named.passphrase);
  const timestamp = headerText(raw, named.timestamp);
  const timestampMs = readTimestampMs(timestamp);
  const digest = readDigest(headerText(raw, named.signature));
  if (apiKey === null || timestampMs === null || digest === null) return null;
  if (passphrase === '' || passphrase.length > passphraseMaxChars) return null;
  return { apiKey, passphrase, timestamp, timestampMs, digest };
}

/** A digest has 43 or 44 characters as base64 of either alphabet and 64 as hex, so the forms never collide. */
function readDigest(text: string): Buffer | null {
  if (hexDigest.test(text)) return Buffer.from(text, 'hex');
  return base64Digest.test(text) ? Buffer.from(text, 'base64url') : null;
}
