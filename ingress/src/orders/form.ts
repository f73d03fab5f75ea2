import type { OrderStruct } from '@pm/domain/orders/eip712';
import type { OrderToValidate } from '@pm/schemas/http/trading';
import {
  parseTokenId,
  parseWalletAddress,
  type TokenId,
  type WalletAddress,
} from '@pm/schemas/ids';
import type { TimeInForce } from '@pm/schemas/log/types';
import type { RefusalCode } from '@pm/schemas/refusals';
import { type SignatureType, signatureTypes } from '@pm/schemas/signing';

/** An order as the client sent it, well-formed and typed; nothing of it is proven yet. */
export interface OrderForm {
  readonly struct: OrderStruct;
  readonly tokenId: TokenId;
  readonly maker: WalletAddress;
  readonly signer: WalletAddress;
  /** As sent; empty when the client leaves it out, as all SDKs do. */
  readonly conditionId: string;
  readonly owner: string;
  readonly timeInForce: TimeInForce;
  readonly postOnly: boolean;
  /** Unix seconds; 0 means none. */
  readonly expirationSeconds: number;
  readonly signedAtMs: number;
  /** Empty only where an order is validated without one. */
  readonly signature: Buffer;
}

/** Whether a value is of the schema `OrderSubmission`, or of `OrderToValidate` in a dry run. */
export type IsSubmission = (value: unknown) => value is OrderToValidate;

const malformed = 'invalid_payload';
const timesInForce: readonly string[] = ['GTC', 'GTD', 'FOK', 'FAK'];
const uint256End = 1n << 256n;
const zero32 = Buffer.alloc(32);
const zero32Hex = `0x${zero32.toString('hex')}`;

/** Why an item is no order: `invalid_payload` refuses the whole request (conventions.md 3.7), the others this item. */
export type FormRefusal = Extract<
  RefusalCode,
  'invalid_payload' | 'order_version_mismatch' | 'invalid_order_type' | 'invalid_request'
>;

/** Text of the refusal `invalid_request` of an order form. */
export const deferredRefused = 'deferExec is not supported, orders are executed as they are read';

/** Reads one item of a placement. */
export function readOrderForm(item: unknown, isSubmission: IsSubmission): OrderForm | FormRefusal {
  if (isVersion1(item)) return 'order_version_mismatch';
  if (hasUnknownType(item)) return 'invalid_order_type';
  if (!isSubmission(item)) return malformed;
  if (item.deferExec === true) return 'invalid_request';
  const { order } = item;
  const struct = readStruct(order);
  const tokenId = parseTokenId(order.tokenId);
  const maker = parseWalletAddress(order.maker);
  const signer = parseWalletAddress(order.signer);
  const signedAtMs = Number(order.timestamp);
  const expirationSeconds = Number(order.expiration ?? 0);
  if (struct === null || tokenId === null || maker === null || signer === null) return malformed;
  if (!Number.isSafeInteger(signedAtMs) || !Number.isSafeInteger(expirationSeconds * 1000)) {
    return malformed;
  }
  return {
    struct,
    tokenId,
    maker,
    signer,
    conditionId: order.conditionId ?? '',
    owner: item.owner,
    timeInForce: item.orderType ?? 'GTC',
    postOnly: item.postOnly ?? false,
    expirationSeconds,
    signedAtMs,
    signature: bytesOf(order.signature ?? '0x'),
  };
}

/** Orders of version 1 have a nonce or a fee rate and no timestamp (conventions.md 1.1). */
function isVersion1(item: unknown): boolean {
  const order = fieldOf(item, 'order');
  if (fieldOf(order, 'timestamp') !== undefined) return false;
  return fieldOf(order, 'nonce') !== undefined || fieldOf(order, 'feeRateBps') !== undefined;
}

function hasUnknownType(item: unknown): boolean {
  const type = fieldOf(item, 'orderType');
  return typeof type === 'string' && !timesInForce.includes(type);
}

/** An own field of an object; undefined for anything else. */
function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name);
}

function readStruct(order: OrderToValidate['order']): OrderStruct | null {
  const salt = BigInt(order.salt);
  const token = BigInt(order.tokenId);
  const makerAmount = BigInt(order.makerAmount);
  const takerAmount = BigInt(order.takerAmount);
  const signatureType = signatureTypes.find((type) => type === order.signatureType);
  if ([salt, token, makerAmount, takerAmount].some((value) => value >= uint256End)) return null;
  if (signatureType === undefined || (order.signature ?? '').length % 2 !== 0) return null;
  const maker = bytesOf(order.maker);
  return {
    salt,
    maker,
    signer: order.signer === order.maker ? maker : bytesOf(order.signer),
    token: Buffer.from(token.toString(16).padStart(64, '0'), 'hex'),
    makerAmount,
    takerAmount,
    side: order.side,
    signatureType: signatureType satisfies SignatureType,
    timestamp: BigInt(order.timestamp),
    metadata: bytes32Of(order.metadata),
    builder: bytes32Of(order.builder),
  };
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}

/** Missing and empty mean zero (conventions.md 3.1). */
function bytes32Of(hex: string | undefined): Buffer {
  const isZero = hex === undefined || hex === '' || hex === zero32Hex;
  return isZero ? zero32 : bytesOf(hex);
}

/**
 * The meaning of orders, apart from how they were signed: token, side, amounts, type, post-only and maker of each. A
 * retry signs again, so salt, timestamp, signature and a stated expiration differ (conventions.md 3.9). Null when one
 * is malformed.
 */
export function meaningOf(items: readonly unknown[], isSubmission: IsSubmission): string | null {
  const meanings: string[] = [];
  for (const item of items) {
    const form = readOrderForm(item, isSubmission);
    if (form === malformed) return null;
    if (typeof form === 'string') {
      meanings.push(form);
      continue;
    }
    const { struct, tokenId, timeInForce, postOnly, maker } = form;
    const { side, makerAmount, takerAmount } = struct;
    meanings.push([tokenId, side, makerAmount, takerAmount, timeInForce, postOnly, maker].join());
  }
  return meanings.join('|');
}
