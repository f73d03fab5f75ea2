import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { checksumAddress, parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import { keccak } from './keccak.ts';

/** Signs 32-byte digests for an address: a key in memory, a hardware wallet, a remote signer. */
export interface Signer {
  /** Lower case. */
  readonly address: WalletAddress;
  /** EIP-55 form, as headers carry it. */
  readonly checksummed: string;
  /** r | s | v with low s and v of 27 or 28, as 0x-text of 65 bytes. */
  sign(digest: Uint8Array): string;
}

/** A signer whose private key (0x and 64 hex digits) is in this process. Throws `RangeError` on any other text. */
export function walletFromPrivateKey(privateKey: string): Signer {
  if (!/^0x[0-9a-fA-F]{64}$/.test(privateKey)) throw new RangeError('not a private key');
  const secret = hexToBytes(privateKey.slice(2));
  const publicKey = secp256k1.getPublicKey(secret, false);
  const address = parseWalletAddress(`0x${bytesToHex(keccak(publicKey.subarray(1)).subarray(12))}`);
  if (address === null) throw new RangeError('no address follows from this key');
  return {
    address,
    checksummed: checksumAddress(address),
    sign: (digest) => signDigest(digest, secret),
  };
}

function signDigest(digest: Uint8Array, secret: Uint8Array): string {
  // noble gives recovery | r | s; wallets give r | s | 27 + recovery.
  const bytes = secp256k1.sign(digest, secret, { prehash: false, format: 'recovered' });
  const v = Uint8Array.of(27 + (bytes[0] ?? 0));
  return `0x${bytesToHex(concatBytes(bytes.subarray(1), v))}`;
}
