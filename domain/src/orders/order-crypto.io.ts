import { createRequire } from 'node:module';
import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import type { MetricDeclarations, Metrics } from '@pm/kit/metrics';
import type { Keccak } from './eip712.ts';
import type { Curve } from './signature.ts';

export const cryptoMetrics = {
  native: {
    type: 'gauge',
    name: 'pm_ingress_native_crypto',
    help: 'One where the package has a binary for this platform, zero where a slower one serves in its place.',
    labels: ['package'],
  },
} as const satisfies MetricDeclarations;

/** A package that has a binary for some platforms. */
type BinaryPackage = 'keccak' | 'secp256k1';

/** Hashes and signatures of orders in this process. */
export interface OrderCrypto {
  readonly keccak: Keccak;
  readonly curve: Curve;
  /** Packages without a binary for this platform: others serve in their place, with the same results, slower. */
  readonly replaced: readonly BinaryPackage[];
}

interface KeccakHash {
  /** The package forbids a second use by this flag alone; its state is reset by `digest`. */
  _finalized: boolean;
  update(data: Buffer): KeccakHash;
  digest(): Buffer;
}

type CreateKeccak = (algorithm: 'keccak256') => KeccakHash;
type RecoverKey = Curve['recoverKey'];

const uncompressedBytes = 65;
const addressBytes = 20;

const require = createRequire(import.meta.url);
const load = <T>(name: string): T => require(name) as T;

/**
 * Loads the binaries of `keccak` and `secp256k1` by name, since the packages themselves fall back to JavaScript without
 * a word. Where a platform has no binary, as on arm64, Keccak in JavaScript and secp256k1 in WebAssembly serve.
 */
export function openOrderCrypto(): OrderCrypto {
  const keccak = binaryOf(() => load<CreateKeccak>('keccak/bindings'));
  const curve = binaryOf(() => load<typeof import('secp256k1')>('secp256k1/bindings'));
  const isThere = { keccak: keccak !== null, secp256k1: curve !== null };
  const replaced = (['keccak', 'secp256k1'] as const).filter((name) => !isThere[name]);
  return cryptoOf(keccak, curve === null ? null : nativeRecovery(curve), replaced);
}

/** Order crypto without binaries, like on a platform that has none: for tests and measurements. */
export function openWithoutBinaries(): OrderCrypto {
  return cryptoOf(null, null, ['keccak', 'secp256k1']);
}

/** Says once what has no binary here, and shows it as a metric. */
export function reportBinaries(
  { replaced }: OrderCrypto,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): void {
  const { native } = metrics.open(cryptoMetrics);
  for (const name of ['keccak', 'secp256k1'] as const)
    native.set(replaced.includes(name) ? 0 : 1, { package: name });
  if (replaced.length === 0) return;
  const facts = { packages: replaced, platform: `${process.platform}-${process.arch}` };
  log.warn(facts, 'no binaries for this platform: orders are checked several times slower');
}

function binaryOf<T>(open: () => T): T | null {
  try {
    return open();
  } catch {
    // There is none for this platform, or this system cannot load it.
    return null;
  }
}

function cryptoOf(
  binary: CreateKeccak | null,
  recovery: RecoverKey | null,
  replaced: OrderCrypto['replaced'],
): OrderCrypto {
  const keccak = openKeccak(binary ?? load<CreateKeccak>('keccak/js'));
  const recoverKey = recovery ?? openRecovery();
  const addressOf: Curve['addressOf'] = (publicKey) =>
    keccak(publicKey.subarray(1, uncompressedBytes)).subarray(32 - addressBytes);
  return { keccak, curve: { recoverKey, addressOf }, replaced };
}

/**
 * One hash object used again and again: making one costs twice as much as hashing an order. Throws the `Fault`
 * `keccak_not_reusable` (stop) for a version of the package with which that gives another result.
 */
function openKeccak(create: CreateKeccak): Keccak {
  const hash = create('keccak256');
  const keccak: Keccak = (bytes) => {
    hash._finalized = false;
    return hash.update(bytes).digest();
  };
  const input = Buffer.from('reuse');
  const fresh = create('keccak256').update(input).digest();
  if (!keccak(input).equals(fresh) || !keccak(input).equals(fresh))
    throw new Fault('keccak_not_reusable', 'stop');
  return keccak;
}

function nativeRecovery(secp256k1: typeof import('secp256k1')): RecoverKey {
  return orNull((signature, recovery, hash) =>
    secp256k1.ecdsaRecover(signature, recovery, hash, false),
  );
}

/** libsecp256k1 in WebAssembly. */
function openRecovery(): RecoverKey {
  const wasm = load<typeof import('tiny-secp256k1')>('tiny-secp256k1');
  return orNull((signature, recovery, hash) => wasm.recover(hash, signature, recovery, false));
}

function orNull(recover: (...given: Parameters<RecoverKey>) => Uint8Array | null): RecoverKey {
  return (...given) => {
    try {
      const key = recover(...given);
      return key === null ? null : Buffer.from(key);
    } catch {
      // r or s outside of the group, or no such point: no key signed this.
      return null;
    }
  };
}
