import { createRequire } from 'node:module';
import { Fault } from '@pm/kit/fault';
import type { Keccak } from './eip712.ts';
import type { Curve } from './signature.ts';

/** The native cryptography of this process. */
export interface NativeCrypto {
  readonly keccak: Keccak;
  readonly curve: Curve;
}

interface KeccakHash {
  /** The package forbids a second use by this flag alone; its state is reset by `digest`. */
  _finalized: boolean;
  update(data: Buffer): KeccakHash;
  digest(): Buffer;
}

type CreateKeccak = (algorithm: 'keccak256') => KeccakHash;
type Secp256k1 = typeof import('secp256k1');

const uncompressedBytes = 65;
const addressBytes = 20;

/**
 * Loads the native bindings of `keccak` and `secp256k1` by name: the packages themselves fall back to JavaScript twins,
 * which are 18 and 36 times slower, without a word (figures.md). Throws the `Fault`
 * `native_binding_missing` (stop).
 */
export function openNativeCrypto(): NativeCrypto {
  const keccak = openKeccak(load<CreateKeccak>('keccak/bindings'));
  const curve = openCurve(load<Secp256k1>('secp256k1/bindings'), keccak);
  return { keccak, curve };
}

const require = createRequire(import.meta.url);

function load<T>(name: string): T {
  try {
    return require(name) as T;
  } catch (cause) {
    throw new Fault('native_binding_missing', 'stop', { facts: { binding: name }, cause });
  }
}

/** One hash object used again and again: making one costs twice as much as hashing an order. */
function openKeccak(create: CreateKeccak): Keccak {
  const hash = create('keccak256');
  const keccak: Keccak = (bytes) => {
    hash._finalized = false;
    return hash.update(bytes).digest();
  };
  const input = Buffer.from('reuse');
  const fresh = create('keccak256').update(input).digest();
  if (!keccak(input).equals(fresh) || !keccak(input).equals(fresh)) {
    throw new Fault('native_binding_missing', 'stop', { facts: { binding: 'keccak reuse' } });
  }
  return keccak;
}

function openCurve(secp256k1: Secp256k1, keccak: Keccak): Curve {
  return {
    recoverKey(signature, recovery, hash) {
      try {
        return Buffer.from(secp256k1.ecdsaRecover(signature, recovery, hash, false));
      } catch {
        // r or s outside of the group, or no such point: no key signed this.
        return null;
      }
    },
    addressOf: (publicKey) =>
      keccak(publicKey.subarray(1, uncompressedBytes)).subarray(32 - addressBytes),
  };
}
