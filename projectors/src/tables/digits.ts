const zero = 48;

/** Numbers below it are written by integer arithmetic of 32 bits; more digits are written in pieces of so many. */
export const smallDigits = 9;
export const smallEnd = 10 ** smallDigits;

/** How many digits a whole number below `smallEnd` has. */
export function digitsOf(value: number): number {
  let digits = 1;
  for (let end = 10; value >= end; end *= 10) digits += 1;
  return digits;
}

/** The last so many digits of a whole number below `smallEnd`, with leading zeros. */
export function writeDigits(
  to: Uint8Array,
  { at, digits }: { readonly at: number; readonly digits: number },
  value: number,
): void {
  let rest = value | 0;
  for (let index = at + digits - 1; index >= at; index -= 1) {
    const tenth = (rest / 10) | 0;
    to[index] = zero + rest - tenth * 10;
    rest = tenth;
  }
}
