/**
 * The integers money is made of, and the only places where a price meets a size.
 *
 *   price   1/10000 USDC per share, 1..9999; every tick size (0.1 .. 0.0001) is a multiple of it
 *   size    micro-shares, always whole lots of 0.01 share
 *   amount  micro-USDC
 *
 * A price times a whole number of lots is a whole number of micro-USDC, so no fill is ever rounded and every mint,
 * merge and transfer balances to zero. (Lot: conventions.md 3.4 and 3.5, size step 0.01 share.)
 */
export const priceOne = 10_000;

/** Micro-shares in a share, and micro-USDC in a USDC. */
export const microPerUnit = 1_000_000;

/** Micro-shares in a lot, the smallest step of any size. */
export const lotMicro = 10_000;

/** No order may be larger, so that every product below stays a safe integer: ten million shares. */
export const orderSizeMaxMicro = 10_000_000 * microPerUnit;

/** The highest fee rate that an operator can set, basis points of the curve: 0.025 USDC a share at a price of 0.5. */
export const feeRateCeilingBps = 1_000;

/** Fees are charged in steps of 0.00001 USDC (conventions.md 3.15). */
const feeStepMicro = 10;

/** Tick sizes in price units: 0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001 (conventions.md 3.5). */
export const tickSizes = [1000, 100, 50, 25, 10, 1] as const;

/**
 * Widest spread of a book whose midpoint is shown: 0.10 USDC. For a wider book the newest trade is shown instead
 * (conventions.md 5.1).
 */
export const shownSpreadMax = 1_000;

/** Micro-USDC that `sizeMicro` shares cost at `price`. Exact for whole lots. */
export function notionalMicro(price: number, sizeMicro: number): number {
  return price * (sizeMicro / lotMicro);
}

/** The price of the other token of the pair: the two add up to 1 USDC. */
export function complementPrice(price: number): number {
  return priceOne - price;
}

/** The largest number of micro-shares, in whole lots, that `amountMicro` buys at `price`. */
export function affordableMicro(price: number, amountMicro: number): number {
  return Math.floor(amountMicro / price) * lotMicro;
}

/**
 * The taker's fee of a fill in micro-USDC: shares x rate x p(1-p), rounded half up to 0.00001 USDC (conventions.md
 * 3.15). `rateBps` is the rate in basis points (441 = 0.0441).
 */
export function feeMicro(price: number, sizeMicro: number, rateBps: number): number {
  if (rateBps === 0) return 0;
  // shares x rate x p(1-p) in steps of 10 micro-USDC = lots x bps x price x (10000 - price) / 10^9
  const weight = rateBps * price * (priceOne - price);
  const lots = sizeMicro / lotMicro;
  const product = lots * weight;
  if (product < Number.MAX_SAFE_INTEGER / 2) {
    return Math.floor((product + feeHalf) / feeDivisor) * feeStepMicro;
  }
  const exact = (BigInt(lots) * BigInt(weight) + BigInt(feeHalf)) / BigInt(feeDivisor);
  return Number(exact) * feeStepMicro;
}

const feeDivisor = 1_000_000_000;
const feeHalf = feeDivisor / 2;

/**
 * Upper bound of a taker's fees for a purchase of `sizeMicro` at `price` or better: the curve is highest at one half.
 * Rounded up a whole step; the matcher never charges beyond what is held.
 */
export function feeBoundMicro(price: number, sizeMicro: number, rateBps: number): number {
  if (rateBps === 0) return 0;
  return feeMicro(Math.min(price, priceOne / 2), sizeMicro, rateBps) + feeStepMicro;
}

/** budget x rate, rounded up, in two parts so that no product leaves the safe integers; and one step for rounding. */
function budgetFeeBoundMicro(budgetMicro: number, rateBps: number): number {
  const whole = Math.floor(budgetMicro / priceOne) * rateBps;
  const rest = Math.ceil(((budgetMicro % priceOne) * rateBps) / priceOne);
  return whole + rest + feeStepMicro;
}

/**
 * Micro-USDC that an order needs in hand: a BUY its cost at the limit and its largest fee; a SELL holds tokens instead
 * and needs 0.
 */
export function holdMicro(order: {
  readonly side: 'BUY' | 'SELL';
  readonly price: number;
  readonly sizeMicro: number;
  /** Micro-USDC to spend, for market buys; 0 otherwise. */
  readonly budgetMicro: number;
  readonly feeRateBps: number;
}): number {
  if (order.side === 'SELL') return 0;
  if (order.budgetMicro > 0) {
    // Shares bought with a budget b at p cost a fee of b x rate x (1-p), which is below b x rate.
    return order.budgetMicro + budgetFeeBoundMicro(order.budgetMicro, order.feeRateBps);
  }
  return (
    notionalMicro(order.price, order.sizeMicro) +
    feeBoundMicro(order.price, order.sizeMicro, order.feeRateBps)
  );
}
