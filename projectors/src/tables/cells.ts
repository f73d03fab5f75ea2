import { type Column, valueType } from '@pm/schemas/tables/create-table';

const zero = 48;

/** Numbers below `smallEnd` are written with 32-bit integer arithmetic; longer ones in groups of `smallDigits`. */
export const smallDigits = 9;
export const smallEnd = 10 ** smallDigits;

/** Number of digits of a whole number below `smallEnd`. */
export function digitsOf(value: number): number {
  let digits = 1;
  for (let end = 10; value >= end; end *= 10) digits += 1;
  return digits;
}

/** Writes the last `digits` digits of a whole number below `smallEnd`, with leading zeros. */
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

const enumType = /^Enum8\((.*)\)$/;
const symbolOfEnum = /'([^']+)' = (\d+)/g;

/** The number of each symbol of a column whose type is an enum; null for other types. */
export function symbolsOf(column: Column): ReadonlyMap<string, number> | null {
  const symbols = enumType.exec(valueType(column))?.[1];
  if (symbols === undefined) return null;
  return new Map(
    [...symbols.matchAll(symbolOfEnum)].map(([, name = '', number]) => [name, Number(number)]),
  );
}
