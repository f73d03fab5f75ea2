import { keccak_256 } from '@noble/hashes/sha3.js';
import { hexToBytes } from '@noble/hashes/utils.js';

/** Keccak-256 of bytes. */
export function keccak(bytes: Uint8Array): Uint8Array {
  return keccak_256(bytes);
}

/** Keccak-256 of a text. */
export function keccakText(text: string): Uint8Array {
  return keccak(new TextEncoder().encode(text));
}

/** A whole number as a 32-byte word of a struct. */
export function word(value: bigint | number): Uint8Array {
  return hexToBytes(BigInt(value).toString(16).padStart(64, '0'));
}

/** 0x-text of up to 32 bytes as a word, padded on the left. */
export function hexWord(hex: string): Uint8Array {
  return hexToBytes(hex.slice(2).padStart(64, '0'));
}
