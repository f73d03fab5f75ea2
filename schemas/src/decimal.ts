import { microPerUnit, priceOne } from './money.ts';

/** Plain decimal text of an integer number of 10^-decimals, without exponent and without trailing zeros. */
function decimalText(value: number, unit: number, decimals: number): string {
  const magnitude = Math.abs(value);
  const whole = Math.floor(magnitude / unit);
  const rest = magnitude - whole * unit;
  const sign = value < 0 ? '-' : '';
  if (rest === 0) return `${sign}${whole}`;
  const fraction = String(rest).padStart(decimals, '0').replace(/0+$/, '');
  return `${sign}${whole}.${fraction}`;
}

/** 5200 is "0.52". */
export function priceText(price: number): string {
  return decimalText(price, priceOne, 4);
}

/** 1500000 is "1.5"; for shares and USDC alike. */
export function microText(micro: number): string {
  return decimalText(micro, microPerUnit, 6);
}

/** "0.52" is 5200; null when the text is no plain decimal of at most four places. */
export function parsePrice(text: string): number | null {
  return parseDecimal(text, 4);
}

/** "1.5" is 1500000; null when the text is no plain decimal of at most six places or too large to be exact. */
export function parseMicro(text: string): number | null {
  return parseDecimal(text, 6);
}

const plainDecimal = /^(0|[1-9]\d{0,15})(?:\.(\d{1,6}))?$/;

function parseDecimal(text: string, decimals: number): number | null {
  const match = plainDecimal.exec(text);
  if (match === null) return null;
  const fraction = match[2] ?? '';
  if (fraction.length > decimals) return null;
  const value = Number(`${match[1]}${fraction.padEnd(decimals, '0')}`);
  return Number.isSafeInteger(value) ? value : null;
}

const plainInteger = /^(0|[1-9]\d{0,38})$/;

/** A whole number in base units as clients send amounts ("5200000"); null when it is not one or beyond 2^53. */
export function parseBaseUnits(text: string): number | null {
  if (!plainInteger.test(text)) return null;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : null;
}
