/** Numbers as ClickHouse writes them into JSON: decimals and 64-bit integers are texts. */
const decimalText = /^(-?)(\d{1,15})(?:\.(\d{1,18}))?$/;

/** A stored decimal in units of 10^-`places`; digits beyond them are cut. Throws on what is no decimal. */
function scaled(text: string, places: number): number {
  const match = decimalText.exec(text);
  if (match === null) throw new TypeError(`not a stored decimal: ${text.slice(0, 40)}`);
  const [, sign, whole = '', fraction = ''] = match;
  const digits = Number(whole + fraction.slice(0, places).padEnd(places, '0'));
  // Not -0, which JSON would not mind but comparisons of answers do.
  return sign === '-' && digits !== 0 ? -digits : digits;
}

/** Shares and USDC in micro-units. */
export function storedMicro(text: string): number {
  return scaled(text, 6);
}

/** Prices in 1/10000 USDC. */
export function storedPrice(text: string): number {
  return scaled(text, 4);
}

export function outcomeOf(value: number): 0 | 1 {
  return value === 1 ? 1 : 0;
}

/** A quotient as a whole number, halves away from zero; the divisor is positive. */
export function roundedQuotient(dividend: bigint, divisor: bigint): number {
  const half = dividend < 0n ? -divisor : divisor;
  // Division of BigInt cuts towards zero.
  return Number((2n * dividend + half) / (2n * divisor));
}
