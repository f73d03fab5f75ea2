import { keccak_256 } from '@noble/hashes/sha3.js';

/** Keccak-256; rooms that hash much bring a native one. */
type Keccak = (data: Buffer) => Buffer;

/** The contract wallets that known factories derive from one address, by signature type; addresses of 20 bytes. */
export interface DerivedWallets {
  /** Signature type 1. */
  readonly proxies: readonly Buffer[];
  /** Signature type 2. */
  readonly safes: readonly Buffer[];
}

/** Where a family's wallets come from: the address follows from factory, salt and init code (CREATE2, EIP-1014). */
interface WalletFactory {
  readonly factory: Buffer;
  readonly initCodeHash: Buffer;
}

const plainKeccak: Keccak = (data) => Buffer.from(keccak_256(data));
const bytes = (hex: string) => Buffer.from(hex, 'hex');

/** Factories of the published clients; all are checked against published wallets (test/derived-wallets.test.ts). */
const proxyFactory: WalletFactory = {
  factory: bytes('ab45c5a4b0c941a2f231c04c3f49182e1a254052'),
  initCodeHash: bytes('d21df8dc65880a8606f09fe0ce3df9b8869287ab0b058be05aa9e8af6330a00b'),
};

const safeFactories: readonly WalletFactory[] = [
  {
    factory: bytes('aacfeea03eb1561c4e67d661e40682bd20e3541b'),
    initCodeHash: bytes('2bce2127ff07fb632d16c8347c4ebf501f4841168bed00d9e6ef715ddb6fcecf'),
  },
  {
    factory: bytes('a28927f4a23f52d0b7253c5e3d09a1fdb22977c4'),
    initCodeHash: bytes('61e47bf36784271f639db33bb53fdc7fc843765357f63277759b9bb2ffdadaff'),
  },
];

/** The factories themselves, 20 bytes each; none of them is a wallet. */
export const walletFactories: readonly Buffer[] = [proxyFactory, ...safeFactories].map(
  ({ factory }) => factory,
);

const create2 = Buffer.from([0xff]);
const pad = Buffer.alloc(12);

/**
 * The wallets of an owner, 20 bytes. Proxies hash the bare address into the salt, Safes the address padded to 32 bytes.
 */
export function derivedWalletsOf(owner: Buffer, keccak: Keccak = plainKeccak): DerivedWallets {
  const bareSalt = keccak(owner);
  const paddedSalt = keccak(Buffer.concat([pad, owner]));
  const made = ({ factory, initCodeHash }: WalletFactory, salt: Buffer) =>
    keccak(Buffer.concat([create2, factory, salt, initCodeHash])).subarray(12);
  return {
    proxies: [made(proxyFactory, bareSalt)],
    safes: safeFactories.map((factory) => made(factory, paddedSalt)),
  };
}
