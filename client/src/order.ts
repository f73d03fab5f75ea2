import { bytesToHex } from '@noble/hashes/utils.js';
import {
  affordableMicro,
  lotMicro,
  notionalMicro,
  type OrderId,
  type OrderSubmission,
  parseMicro,
  parsePrice,
  type SigningDomain,
  type TimeInForce,
} from '@pm/schemas';
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

const zero32 = `0x${'0'.repeat(64)}`;

/**
 * Builds an order and has it signed by a wallet that shows what it signs. Throws like `buildOrder`, and `RangeError`
 * for deposit wallets, whose wrapped orders such wallets do not show.
 */
export async function buildShownOrder(
  intent: OrderIntent,
  context: Omit<SigningContext, 'signer'> & { readonly signer: TypedDataSigner },
): Promise<BuiltOrder> {
  if (intent.signatureType === 3) throw new RangeError('a deposit wallet signs by its key');
  const { signer, domain, negRisk, owner } = context;
  const struct = structOf(intent, context);
  const orderId = orderIdOf(orderDigest(struct, domainSeparator(domain, negRisk)));
  const signature = await signer.signTypedData(orderTypedData(struct, domain, negRisk));
  return { orderId, submission: submissionOf(struct, signature, { intent, owner }) };
}

/** Builds and signs an order. Throws `RangeError` when price, size or budget are no decimals the exchange knows. */
export function buildOrder(intent: OrderIntent, context: SigningContext): BuiltOrder {
  const struct = structOf(intent, context);
  const { orderId, signature } = signOrder(struct, context);
  return { orderId, submission: submissionOf(struct, signature, { intent, owner: context.owner }) };
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

function signOrder(struct: OrderStruct, context: SigningContext) {
  const separator = domainSeparator(context.domain, context.negRisk);
  const digest = orderDigest(struct, separator);
  const orderId = orderIdOf(digest);
  if (struct.signatureType !== 3) return { orderId, signature: context.signer.sign(digest) };
  const inner = context.signer.sign(wrappedDigest(struct, separator, context.domain.chainId));
  return { orderId, signature: wrapSignature(inner, struct, separator) };
}

function submissionOf(
  struct: OrderStruct,
  signature: string,
  sent: { intent: OrderIntent; owner: string },
): OrderSubmission {
  const { intent, owner } = sent;
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
      signature,
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
