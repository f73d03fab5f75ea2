import { bytesToHex } from '@noble/hashes/utils.js';
import { parseMicro, parsePrice } from '@pm/schemas/decimal';
import type { OrderSubmission, OrderToValidate } from '@pm/schemas/http/trading';
import type { OrderId } from '@pm/schemas/ids';
import type { TimeInForce } from '@pm/schemas/log/types';
import { affordableMicro, lotMicro, notionalMicro } from '@pm/schemas/money';
import type { SigningDomain } from '@pm/schemas/signing';
import {
  domainSeparator,
  type OrderStruct,
  orderDigest,
  orderIdOf,
  wrappedDigest,
  wrapSignature,
} from './eip712.ts';
import { orderTypedData, type TypedDataSigner } from './typed-data.ts';
import type { Signer } from './wallet.ts';

/** An order as the trader writes it: prices and sizes as decimal text, without floating point. */
export interface OrderIntent {
  readonly tokenId: string;
  readonly side: 'BUY' | 'SELL';
  /** USDC per share, "0.52". */
  readonly price: string;
  /** Shares, whole hundredths: "10.5". Leave out for a market buy by budget. */
  readonly size?: string;
  /** USDC to spend; FOK and FAK buys only. */
  readonly budget?: string;
  /** Default GTC. */
  readonly timeInForce?: TimeInForce;
  readonly postOnly?: boolean;
  /** GTD: Unix seconds. */
  readonly expiration?: number;
  /** Wallet whose money moves, if it is not the signer's own. */
  readonly maker?: string;
  /** 0 EOA (default), 1 proxy, 2 Safe, 3 deposit wallet. */
  readonly signatureType?: 0 | 1 | 2 | 3;
  readonly builder?: string;
}

/** Where and for whom an order is signed. */
export interface SigningContext {
  readonly signer: Signer;
  readonly domain: SigningDomain;
  readonly negRisk: boolean;
  /** API key the order is sent with. */
  readonly owner: string;
  readonly nowMs: number;
}

export interface BuiltOrder {
  readonly orderId: OrderId;
  readonly submission: OrderSubmission;
}

/** An unsigned order: it cannot be placed by who sees it. */
export interface OrderDraft {
  /** The id that it has once it is signed. */
  readonly orderId: OrderId;
  /** The order in the form that `own.validate` takes. */
  readonly submission: OrderToValidate;
  /** Has the wallet sign it; the same order each time. */
  sign(): Promise<BuiltOrder>;
}

const zero32 = `0x${'0'.repeat(64)}`;

/**
 * Builds an order for a wallet to sign. Throws like `buildOrder`, and `RangeError` for deposit wallets with a signer
 * that shows what it signs: such wallets do not show wrapped orders.
 */
export function draftOrder(
  intent: OrderIntent,
  context: Omit<SigningContext, 'signer'> & { readonly signer: Signer | TypedDataSigner },
): OrderDraft {
  const { signer, domain, negRisk } = context;
  const isShown = 'signTypedData' in signer;
  if (isShown && intent.signatureType === 3)
    throw new RangeError('a deposit wallet signs by its key');
  const order = unsignedOrder(intent, context);
  const { orderId, submission } = order;
  const signature = async () =>
    isShown
      ? await signer.signTypedData(orderTypedData(order.struct, domain, negRisk))
      : signOrder(order, { ...context, signer });
  const sign = async () => ({ orderId, submission: signed(submission, await signature()) });
  return { orderId, submission, sign };
}

/** Builds and signs an order. Throws `RangeError` when price, size or budget are no decimals the exchange knows. */
export function buildOrder(intent: OrderIntent, context: SigningContext): BuiltOrder {
  const order = unsignedOrder(intent, context);
  const { orderId, submission } = order;
  return { orderId, submission: signed(submission, signOrder(order, context)) };
}

function structOf(
  intent: OrderIntent,
  context: Pick<SigningContext, 'nowMs'> & { readonly signer: Pick<Signer, 'address'> },
): OrderStruct {
  const { makerMicro, takerMicro } = amountsOf(intent);
  const signatureType = intent.signatureType ?? 0;
  const maker = intent.maker ?? context.signer.address;
  return {
    salt: BigInt(`0x${bytesToHex(crypto.getRandomValues(new Uint8Array(6)))}`),
    maker,
    signer: signatureType === 3 ? maker : context.signer.address,
    tokenId: BigInt(intent.tokenId),
    makerAmount: BigInt(makerMicro),
    takerAmount: BigInt(takerMicro),
    side: intent.side,
    signatureType,
    timestampMs: BigInt(context.nowMs),
    metadata: zero32,
    builder: intent.builder ?? zero32,
  };
}

interface UnsignedOrder extends Pick<OrderDraft, 'orderId' | 'submission'> {
  readonly struct: OrderStruct;
  readonly digest: Uint8Array;
}

function unsignedOrder(
  intent: OrderIntent,
  context: Omit<SigningContext, 'signer'> & { readonly signer: Pick<Signer, 'address'> },
): UnsignedOrder {
  const struct = structOf(intent, context);
  const digest = orderDigest(struct, domainSeparator(context.domain, context.negRisk));
  const submission = submissionOf(struct, intent, context.owner);
  return { struct, digest, orderId: orderIdOf(digest), submission };
}

function signed(submission: OrderToValidate, signature: string): OrderSubmission {
  return { ...submission, order: { ...submission.order, signature } };
}

function signOrder(
  { struct, digest }: UnsignedOrder,
  { signer, domain, negRisk }: SigningContext,
): string {
  if (struct.signatureType !== 3) return signer.sign(digest);
  const separator = domainSeparator(domain, negRisk);
  const inner = signer.sign(wrappedDigest(struct, separator, domain.chainId));
  return wrapSignature(inner, struct, separator);
}

function submissionOf(struct: OrderStruct, intent: OrderIntent, owner: string): OrderToValidate {
  return {
    order: {
      salt: struct.salt.toString(),
      maker: struct.maker,
      signer: struct.signer,
      tokenId: struct.tokenId.toString(),
      makerAmount: struct.makerAmount.toString(),
      takerAmount: struct.takerAmount.toString(),
      side: struct.side,
      signatureType: struct.signatureType,
      timestamp: struct.timestampMs.toString(),
      metadata: struct.metadata,
      builder: struct.builder,
      expiration: String(intent.expiration ?? 0),
    },
    owner,
    orderType: intent.timeInForce ?? 'GTC',
    ...(intent.postOnly === undefined ? {} : { postOnly: intent.postOnly }),
  };
}

/** Base units on both sides: a BUY pays USDC for shares, a SELL the reverse (conventions.md 3.4). */
function amountsOf(intent: OrderIntent): { makerMicro: number; takerMicro: number } {
  const price = parsePrice(intent.price);
  if (price === null || price <= 0) throw new RangeError(`not a price: ${intent.price}`);
  if (intent.budget !== undefined) {
    const budgetMicro = parseMicro(intent.budget);
    if (budgetMicro === null) throw new RangeError(`not an amount: ${intent.budget}`);
    return { makerMicro: budgetMicro, takerMicro: affordableMicro(price, budgetMicro) };
  }
  const sizeMicro = parseMicro(intent.size ?? '');
  if (sizeMicro === null || sizeMicro % lotMicro !== 0) {
    throw new RangeError(`not a size in whole hundredths of a share: ${intent.size}`);
  }
  const costMicro = notionalMicro(price, sizeMicro);
  return intent.side === 'BUY'
    ? { makerMicro: costMicro, takerMicro: sizeMicro }
    : { makerMicro: sizeMicro, takerMicro: costMicro };
}
