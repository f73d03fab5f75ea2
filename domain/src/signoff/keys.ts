import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto';
import { Fault } from '@pm/kit/fault';

/** Bytes of a seed, of a raw public key, of a signature and of a key id (RFC 8032; architecture.md). */
const seedBytes = 32;
const publicKeyBytes = 32;
const signatureBytes = 64;
const keyIdBytes = 8;

/** The bytes before the raw key in its DER forms (RFC 8410, section 7 and 4). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex');

/** A private key that signs its owner's records on the log. */
export interface SignOffKey {
  /** Raw Ed25519 public key, 32 bytes. */
  readonly publicKey: Buffer;
  /** First 8 bytes of the SHA-256 of `publicKey`. */
  readonly keyId: Buffer;
  /** The signature, 64 bytes. */
  sign(bytes: Uint8Array): Buffer;
}

/** Whether the signature (64 bytes) is this key's over the bytes. Never throws. */
export type Verifier = (bytes: Uint8Array, signature: Uint8Array) => boolean;

/**
 * Opens a key from its 32-byte seed or its PKCS#8 DER form. Throws a `Fault` `invalid_key` (stop) for anything else;
 * the fault carries no byte of the key.
 */
export function openSignOffKey(seedOrPkcs8: Uint8Array): SignOffKey {
  const key = importPrivate(Buffer.from(seedOrPkcs8));
  const publicKey = rawPublicKey(createPublicKey(key));
  return { publicKey, keyId: keyIdOf(publicKey), sign: (bytes) => signBytes(null, bytes, key) };
}

/**
 * A check bound to one public key (raw, 32 bytes); the key object is created once. `node:crypto` refuses signatures
 * whose S is not below the group order, so no signature can be changed into another (traps.md).
 */
export function verifierFor(publicKey: Uint8Array): Verifier {
  const key = publicKeyObject(publicKey);
  return (bytes, signature) =>
    signature.length === signatureBytes && verifyBytes(null, bytes, key, signature);
}

/** The key object of a raw public key, 32 bytes. Throws a `Fault` `invalid_key` (stop) for another length. */
export function publicKeyObject(publicKey: Uint8Array): KeyObject {
  return importPublic(Buffer.from(publicKey));
}

/** The raw public key, 32 bytes, of its key object. */
export function rawPublicKey(publicKey: KeyObject): Buffer {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return Buffer.from(spki.subarray(spkiHead.length));
}

/** The name of a key on the log: the first 8 bytes of the SHA-256 of its raw public key. */
export function keyIdOf(publicKey: Uint8Array): Buffer {
  return createHash('sha256').update(publicKey).digest().subarray(0, keyIdBytes);
}

function importPrivate(bytes: Buffer): KeyObject {
  const der = bytes.length === seedBytes ? Buffer.concat([pkcs8Head, bytes]) : bytes;
  try {
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The library's message may quote the input; the fault below names the expected form.
  }
  throw invalidKey('private key: a 32-byte seed or Ed25519 PKCS#8', bytes.length);
}

function importPublic(raw: Buffer): KeyObject {
  if (raw.length !== publicKeyBytes) throw invalidKey('raw public key: 32 bytes', raw.length);
  return createPublicKey({ key: Buffer.concat([spkiHead, raw]), format: 'der', type: 'spki' });
}

function invalidKey(wanted: string, givenBytes: number): Fault {
  return new Fault('invalid_key', 'stop', { facts: { wanted, givenBytes } });
}
