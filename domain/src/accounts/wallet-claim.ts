import { parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import { headers as names } from '@pm/schemas/signing';
import { headerText, type RawHeaders, readTimestampMs } from './auth-headers.ts';

/** The claim of a request for a key, well-formed but not yet checked (conventions.md 2.1). */
export interface WalletClaim {
  readonly address: WalletAddress;
  /** 65 bytes: r, s, v. */
  readonly signature: Buffer;
  /** The header's own text: it is part of what is signed. */
  readonly timestamp: string;
  readonly timestampMs: number;
  /** Canonical decimal uint256. */
  readonly nonce: string;
}

const walletSignature = /^0x[0-9a-fA-F]{130}$/;
const nonceText = /^(0|[1-9]\d{0,77})$/;
const uint256End = 1n << 256n;

/**
 * The four headers of a request for a key; null when one is missing, repeated or ill-formed. The nonce defaults to 0.
 */
export function readWalletClaim(raw: RawHeaders): WalletClaim | null {
  const address = parseWalletAddress(headerText(raw, names.address));
  const signature = headerText(raw, names.signature);
  const timestamp = headerText(raw, names.timestamp);
  const timestampMs = readTimestampMs(timestamp);
  const nonce = headerText(raw, names.nonce) || '0';
  if (address === null || timestampMs === null) return null;
  if (!walletSignature.test(signature) || !nonceText.test(nonce)) return null;
  if (BigInt(nonce) >= uint256End) return null;
  const bytes = Buffer.from(signature.slice(2), 'hex');
  return { address, signature: bytes, timestamp, timestampMs, nonce };
}
