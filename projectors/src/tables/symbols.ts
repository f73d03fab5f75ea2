import type { Column } from '@pm/schemas';

const enumType = /^Enum8\((.*)\)$/;
const symbolOfEnum = /'([^']+)' = (\d+)/g;

/** The number of each symbol of a column whose type is an enum; null for other types. */
export function symbolsOf({ type }: Column): ReadonlyMap<string, number> | null {
  const symbols = enumType.exec(type)?.[1];
  if (symbols === undefined) return null;
  return new Map(
    [...symbols.matchAll(symbolOfEnum)].map(([, name = '', number]) => [name, Number(number)]),
  );
}
