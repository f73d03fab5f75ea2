/** A quotient as a whole number, halves away from zero; the divisor is positive. */
export function roundedQuotient(dividend: bigint, divisor: bigint): number {
  const half = dividend < 0n ? -divisor : divisor;
  // Division of BigInt cuts towards zero.
  return Number((2n * dividend + half) / (2n * divisor));
}
