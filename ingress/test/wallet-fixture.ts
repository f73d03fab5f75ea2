import { createHmac } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { SigningDomain } from '@pm/schemas/signing';

/** An independent reading of EIP-712 and of the HMAC, with @noble alone: what clients do, and none of our sources. */
type Value = string | number | bigint;
export interface TypedField {
  readonly name: string;
  readonly type: string;
}

export const keccak = (bytes: Uint8Array): Buffer => Buffer.from(keccak_256(bytes));
const text = (value: string) => keccak(Buffer.from(value, 'utf8'));
const word = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');

function encode(type: string, value: Value): Buffer {
  if (type === 'string') return text(String(value));
  if (type === 'bytes32') return Buffer.from(String(value).slice(2), 'hex');
  return word(BigInt(value));
}

export function hashStruct(
  typeText: string,
  fields: readonly TypedField[],
  values: Readonly<Record<string, Value>>,
): Buffer {
  const words = fields.map(({ name, type }) => encode(type, values[name] ?? 0));
  return keccak(Buffer.concat([text(typeText), ...words]));
}

export function separatorOf(domain: {
  name: string;
  version: string;
  chainId: number;
  verifyingContract?: string;
}): Buffer {
  const fields = [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    ...(domain.verifyingContract === undefined
      ? []
      : [{ name: 'verifyingContract', type: 'address' }]),
  ];
  const inner = fields.map(({ name, type }) => `${type} ${name}`).join(',');
  return hashStruct(`EIP712Domain(${inner})`, fields, domain);
}

export function digestOf(separator: Buffer, structHash: Buffer): Buffer {
  return keccak(Buffer.concat([Buffer.from('1901', 'hex'), separator, structHash]));
}

const orderFields: readonly TypedField[] = [
  ['salt', 'uint256'],
  ['maker', 'address'],
  ['signer', 'address'],
  ['tokenId', 'uint256'],
  ['makerAmount', 'uint256'],
  ['takerAmount', 'uint256'],
  ['side', 'uint8'],
  ['signatureType', 'uint8'],
  ['timestamp', 'uint256'],
  ['metadata', 'bytes32'],
  ['builder', 'bytes32'],
].map(([name = '', type = '']) => ({ name, type }));
const orderText = `Order(${orderFields.map((field) => `${field.type} ${field.name}`).join(',')})`;

export interface TestWallet {
  readonly address: string;
  sign(digest: Buffer): string;
}

export function walletOf(secretByte: number): TestWallet {
  const secret = Buffer.alloc(32, secretByte);
  const publicKey = secp256k1.getPublicKey(secret, false);
  return {
    address: `0x${keccak(publicKey.subarray(1)).subarray(12).toString('hex')}`,
    sign(digest) {
      const bytes = secp256k1.sign(digest, secret, { prehash: false, format: 'recovered' });
      const last = Buffer.from([27 + (bytes[0] ?? 0)]);
      return `0x${Buffer.concat([bytes.subarray(1), last]).toString('hex')}`;
    },
  };
}

/** s becomes n - s and v the other one: the same signature to a careless verifier. */
export function withHighS(signature: string): string {
  const bytes = Buffer.from(signature.slice(2), 'hex');
  const order = secp256k1.Point.Fn.ORDER;
  const s = BigInt(`0x${bytes.subarray(32, 64).toString('hex')}`);
  const last = Buffer.from([bytes[64] === 27 ? 28 : 27]);
  return `0x${Buffer.concat([bytes.subarray(0, 32), word(order - s), last]).toString('hex')}`;
}

export const zero32 = `0x${'00'.repeat(32)}`;

export interface TestOrder {
  readonly salt: string | number;
  readonly maker: string;
  readonly signer: string;
  readonly tokenId: string;
  readonly makerAmount: string;
  readonly takerAmount: string;
  readonly side: 'BUY' | 'SELL';
  readonly signatureType: number;
  readonly timestamp: string;
  readonly metadata: string;
  readonly builder: string;
}

export function structHashOf(order: TestOrder): Buffer {
  const side = order.side === 'BUY' ? 0 : 1;
  return hashStruct(orderText, orderFields, { ...order, side });
}

export function signedBy(
  wallet: TestWallet,
  order: TestOrder,
  domain: SigningDomain,
  negRisk = false,
): { readonly signature: string; readonly hash: string } {
  const verifyingContract = negRisk ? domain.negRiskExchange : domain.exchange;
  const separator = separatorOf({ ...domain, verifyingContract });
  const struct = structHashOf(order);
  const hash = digestOf(separator, struct);
  if (order.signatureType !== 3) return { signature: wallet.sign(hash), hash: hexOf(hash) };
  const members =
    'Order contents,string name,string version,uint256 chainId,address verifyingContract,bytes32 salt';
  const wrappedText = `TypedDataSign(${members})${orderText}`;
  const wrapped = keccak(
    Buffer.concat([
      text(wrappedText),
      struct,
      text('DepositWallet'),
      text('1'),
      word(BigInt(domain.chainId)),
      word(BigInt(order.maker)),
      word(0n),
    ]),
  );
  const inner = Buffer.from(wallet.sign(digestOf(separator, wrapped)).slice(2), 'hex');
  const tail = [separator, struct, Buffer.from(orderText, 'ascii'), Buffer.from('00ba', 'hex')];
  return { signature: hexOf(Buffer.concat([inner, ...tail])), hash: hexOf(hash) };
}

export function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

export function l2Signature(secret: string, message: string): string {
  return createHmac('sha256', Buffer.from(secret, 'base64'))
    .update(message)
    .digest('base64')
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}
