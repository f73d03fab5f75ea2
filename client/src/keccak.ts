import { keccak_256 } from '@noble/hashes/sha3.js';

/** Keccak-256 of bytes. */
export function keccak(bytes: Uint8Array): Buffer {
  return Buffer.from(keccak_256(bytes));
}

/** Keccak-256 of an ASCII text. */
export function keccakText(text: string): Buffer {
  return keccak(Buffer.from(text, 'utf8'));
}

/** A whole number as a 32-byte word of a struct. */
export function word(value: bigint | number): Buffer {
  return Buffer.from(BigInt(value).toString(16).padStart(64, '0'), 'hex');
}

/** 0x-text of up to 32 bytes as a word, padded on the left. */
export function hexWord(hex: string): Buffer {
  return Buffer.from(hex.slice(2).padStart(64, '0'), 'hex');
}
