import { microText, priceText } from '@pm/schemas/decimal';
import type { Side } from '@pm/schemas/log/types';
import {
  affordableMicro,
  lotMicro,
  microPerUnit,
  orderSizeMaxMicro,
  priceOne,
  tickSizes,
} from '@pm/schemas/money';
import type { RefusalCode } from '@pm/schemas/refusals';

/** The two amounts of a client, and the rules of the market that give them a meaning. */
export interface AmountsInput {
  readonly side: Side;
  /** Base units as sent: a BUY gives USDC for shares, a SELL the reverse. */
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  /** FOK and FAK: fills at once or not at all. */
  readonly immediate: boolean;
  /** 1/10000 USDC. */
  readonly tick: number;
  /** Smallest size of an order that may rest. */
  readonly minSizeMicro: number;
}

/** Limit price, size and budget of an order, as the log carries them. */
export interface OrderAmounts {
  /** 0: an immediate order means none on the grid of today. The matcher refuses it, unless it knows the order. */
  readonly price: number;
  readonly sizeMicro: number;
  /** Immediate buys: micro-USDC to spend; otherwise 0. */
  readonly budgetMicro: number;
}

export interface AmountsRefusal {
  readonly code: Extract<RefusalCode, 'invalid_amounts' | 'invalid_tick_size' | 'invalid_size'>;
  readonly facts: Readonly<Record<string, string>>;
}

/**
 * `refused`: no market takes these amounts. `refusalIfNew`: the rules of today refuse them, and earlier ones may have
 * taken the same order.
 */
export type ReadAmounts =
  | {
      readonly kind: 'amounts';
      readonly amounts: OrderAmounts;
      readonly refusalIfNew: AmountsRefusal | null;
    }
  | { readonly kind: 'refused'; readonly refusal: AmountsRefusal };

/**
 * Limit orders must be exact: whole lots at a price on the grid, as every client's rounding table gives them. Immediate
 * orders may be off by a rounding (`nearGrid`); an immediate BUY is a budget with a limit. (conventions.md 3.4, 3.6.)
 */
export function readAmounts(input: AmountsInput): ReadAmounts {
  const [usdc, shares] =
    input.side === 'BUY'
      ? [input.makerAmount, input.takerAmount]
      : [input.takerAmount, input.makerAmount];
  const largest = BigInt(orderSizeMaxMicro);
  if (usdc <= 0n || shares <= 0n || usdc > largest || shares > largest) return invalidAmounts;
  const pair = { usdcMicro: Number(usdc), sharesMicro: Number(shares) };
  const isBudget = input.immediate && input.side === 'BUY';
  if (!isBudget && pair.sharesMicro % lotMicro !== 0) return invalidAmounts;
  const price = meantPrice(pair, input);
  const refusal = rulesRefusal(price, pair, input);
  if (refusal !== null && !isOnAnyGrid(pair, input)) return { kind: 'refused', refusal };
  const amounts = isBudget ? budgetOf(price ?? 0, pair) : sizeOf(price ?? 0, pair);
  return { kind: 'amounts', amounts, refusalIfNew: refusal };
}

interface Pair {
  readonly usdcMicro: number;
  readonly sharesMicro: number;
}

/** The refusal by the rules of the market, which an operator or the prices of its trades may change. */
function rulesRefusal(
  price: number | null,
  pair: Pair,
  input: AmountsInput,
): AmountsRefusal | null {
  if (!isOnGrid(price, input.tick)) return invalidTick(pair, input.tick);
  // The smallest size is for orders that rest; what fills at once needs a single lot.
  const isTooSmall = !input.immediate && pair.sharesMicro < input.minSizeMicro;
  return isTooSmall ? invalidSize(pair, input.minSizeMicro) : null;
}

/** In 1/10000 USDC; null when the amounts mean none. */
function meantPrice(pair: Pair, input: AmountsInput): number | null {
  return input.immediate ? nearGrid(pair, input) : exactPrice(pair);
}

/** USDC over shares in 1/10000, when it is a whole number. */
function exactPrice({ usdcMicro, sharesMicro }: Pair): number | null {
  const lots = sharesMicro / lotMicro;
  return usdcMicro % lots === 0 ? usdcMicro / lots : null;
}

/**
 * The tick price an immediate order means: the nearest one within 1 % of a tick plus 1e-4 USDC over the shares
 * (conventions.md 3.4); or, for buys, the one at which the money buys exactly these shares cut to whole lots (ccxt), or
 * filled up to whole lots (unified SDK).
 */
function nearGrid(pair: Pair, input: AmountsInput): number | null {
  const { tick } = input;
  const scaled = BigInt(pair.usdcMicro) * BigInt(priceOne);
  const shares = BigInt(pair.sharesMicro);
  const whole = Number(scaled / (shares * BigInt(tick))) * tick;
  const below = withinPrices(whole, tick);
  const above = withinPrices(whole + tick, tick);
  const distance = (price: number) => absolute(scaled - BigInt(price) * shares);
  const nearest = distance(below) <= distance(above) ? below : above;
  const allowed = BigInt(tick) * shares + 100n * BigInt(microPerUnit);
  if (100n * distance(nearest) < allowed) return nearest;
  if (input.side === 'SELL' || pair.sharesMicro % lotMicro !== 0) return null;
  if (affordableMicro(below, pair.usdcMicro) === pair.sharesMicro) return below;
  const filledUp = Math.ceil(pair.usdcMicro / above) * lotMicro;
  return filledUp === pair.sharesMicro ? above : null;
}

/** The nearest price that an order may have at all. */
function withinPrices(price: number, tick: number): number {
  return Math.min(Math.max(price, tick), priceOne - tick);
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function isOnAnyGrid(pair: Pair, input: AmountsInput): boolean {
  return tickSizes.some((tick) => isOnGrid(meantPrice(pair, { ...input, tick }), tick));
}

/** tick <= price <= 1 - tick, in whole ticks. */
function isOnGrid(price: number | null, tick: number): boolean {
  return price !== null && price >= tick && price <= priceOne - tick && price % tick === 0;
}

function sizeOf(price: number, { sharesMicro }: Pair): OrderAmounts {
  return { price, sizeMicro: sharesMicro, budgetMicro: 0 };
}

/** The budget decides how much is bought; the size is what the client named, cut to whole lots. */
function budgetOf(price: number, { usdcMicro, sharesMicro }: Pair): OrderAmounts {
  return { price, sizeMicro: sharesMicro - (sharesMicro % lotMicro), budgetMicro: usdcMicro };
}

const invalidAmounts: ReadAmounts = {
  kind: 'refused',
  refusal: { code: 'invalid_amounts', facts: { lot: microText(lotMicro) } },
};

function invalidTick(pair: Pair, tick: number): AmountsRefusal {
  const micro = (BigInt(pair.usdcMicro) * BigInt(microPerUnit)) / BigInt(pair.sharesMicro);
  const facts = { price: microText(Number(micro)), tick: priceText(tick) };
  return { code: 'invalid_tick_size', facts };
}

function invalidSize(pair: Pair, minSizeMicro: number): AmountsRefusal {
  const facts = { size: microText(pair.sharesMicro), min: microText(minSizeMicro) };
  return { code: 'invalid_size', facts };
}
