/** A query parameter as it arrives: missing, once, or repeated. */
export type RawParam = string | readonly string[] | undefined;

/** The result of a parser: `undefined` when the parameter is missing, `null` when it is not acceptable. */
export type ParsedParam<T> = T | undefined | null;

const integerPattern = /^-?(0|[1-9]\d{0,15})$/;

/** A whole number in canonical decimal digits from `min` to `max`; given twice it is not acceptable. */
export function parseIntegerParam(
  raw: RawParam,
  { min, max }: { readonly min: number; readonly max: number },
): ParsedParam<number> {
  if (raw === undefined) return undefined;
  if (typeof raw !== 'string' || !integerPattern.test(raw) || raw === '-0') return null;
  const value = Number(raw);
  return value >= min && value <= max ? value : null;
}

/** `true`, `false`, `1` or `0`, in any case; given twice it is not acceptable. */
export function parseBooleanParam(raw: RawParam): ParsedParam<boolean> {
  if (raw === undefined) return undefined;
  if (typeof raw !== 'string') return null;
  const text = raw.toLowerCase();
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : null;
}

/**
 * Items between commas, in one value or in repeated ones (conventions.md 1.2), in their order, empty ones left out. Not
 * acceptable: more than `maxItems`, or an item longer than `maxChars` (default 128).
 */
export function parseListParam(
  raw: RawParam,
  { maxItems, maxChars = 128 }: { readonly maxItems: number; readonly maxChars?: number },
): ParsedParam<readonly string[]> {
  if (raw === undefined) return undefined;
  const values = typeof raw === 'string' ? [raw] : raw;
  const items = values
    .flatMap((value) => value.split(','))
    .map((item) => item.trim())
    .filter((item) => item !== '');
  const sound = items.length <= maxItems && items.every((item) => item.length <= maxChars);
  return sound ? items : null;
}
