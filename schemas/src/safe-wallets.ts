import { keccak_256 } from '@noble/hashes/sha3.js';

/** Keccak-256; rooms that hash much bring a native one. */
type Keccak = (data: Buffer) => Buffer;

const plainKeccak: Keccak = (data) => Buffer.from(keccak_256(data));

/** Where a family's Safe wallets come from: the address follows from the owner (CREATE2, EIP-1014). */
interface SafeFactory {
  readonly factory: Buffer;
  readonly initCodeHash: Buffer;
}

const bytes = (hex: string) => Buffer.from(hex, 'hex');

/** Factories of the published clients; both are checked against published wallets (test/core/vectors.test.ts). */
const safeFactories: readonly SafeFactory[] = [
  {
    factory: bytes('aacfeea03eb1561c4e67d661e40682bd20e3541b'),
    initCodeHash: bytes('2bce2127ff07fb632d16c8347c4ebf501f4841168bed00d9e6ef715ddb6fcecf'),
  },
  {
    factory: bytes('a28927f4a23f52d0b7253c5e3d09a1fdb22977c4'),
    initCodeHash: bytes('61e47bf36784271f639db33bb53fdc7fc843765357f63277759b9bb2ffdadaff'),
  },
];

const create2 = Buffer.from([0xff]);
const pad = Buffer.alloc(12);

/** The Safes that the known factories make for this owner; addresses of 20 bytes. */
export function safesOf(owner: Buffer, keccak: Keccak = plainKeccak): readonly Buffer[] {
  const salt = keccak(Buffer.concat([pad, owner]));
  return safeFactories.map(({ factory, initCodeHash }) =>
    keccak(Buffer.concat([create2, factory, salt, initCodeHash])).subarray(12),
  );
}
