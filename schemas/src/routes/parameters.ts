import { Type } from 'typebox';
import { address, conditionId, orderId, sample, tokenId } from '../http/forms.ts';
import { wholeNumberForms, wholeNumberPattern } from './whole-number.ts';

/** Parameters of paths and queries as they arrive: text. An empty value of a query counts as absent. */
export const optional = Type.Optional;

/** A whole number in decimal digits; both bounds included. */
export function wholeNumber(
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number },
  description = '',
) {
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
  return Type.String({
    pattern: wholeNumberPattern(min, max),
    description: `${description}Whole number, ${range}.`,
  });
}

/** `true`, `false`, `1` or `0`. */
export const truth = (description: string) =>
  Type.Enum(['true', 'false', '1', '0'], { description });

export const shortText = (description: string, maxLength = 200) =>
  Type.String({ maxLength, description });

/** One of a closed list. */
export const oneOf = <const V extends readonly string[]>(
  values: readonly [...V],
  description: string,
) => Type.Enum([...values], { description });

/** Several values: the key repeated, or between commas. */
export const listOf = <const T extends Type.TSchema>(
  item: T,
  maxItems: number,
  description: string,
) => Type.Array(item, { maxItems, description: `${description} Commas or repeated keys.` });

export const plainDecimal = (description: string) =>
  Type.String({ pattern: '^[0-9]{1,12}(\\.[0-9]{1,12})?$', description });

const day = '\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])';
const minute = '([01]\\d|2[0-3]):[0-5]\\d';
const isoTime = `${day}(T${minute}(:[0-5]\\d(\\.\\d{1,9})?)?(Z|[+-]${minute})?)?`;

/** A moment: Unix milliseconds, or a time of ISO 8601. */
export const moment = (description: string) =>
  Type.String({ pattern: `^((0|[1-9]\\d{0,14})|${isoTime})$`, description });

/**
 * A time as lists take it: a day or a time of ISO 8601, UTC without a zone (conventions.md 1.2). Unix seconds, which
 * some clients send, are taken too and not promised.
 */
export const time = (description: string) =>
  Type.String({
    pattern: `^${isoTime}$`,
    description,
    examples: ['2026-06-01'],
  });

/** Seconds since 1970, to the year 2105. */
export const secondsOf = (description: string) =>
  wholeNumber({ max: 4_200_000_000 }, `${description} Unix seconds. `);

/** The cursor of a list, by all its names: clients of the family send each of them. */
export function cursorParameters(
  form: { readonly pattern: string } | { readonly maxLength: number },
) {
  const same = optional(Type.String({ ...form, description: 'The same as `next_cursor`.' }));
  const before = 'The `next_cursor` of the page before, with the same order and filters';
  const description = 'pattern' in form ? `${before}; \`MA==\` is the first page.` : `${before}.`;
  return {
    next_cursor: optional(Type.String({ ...form, description })),
    after_cursor: same,
    cursor: same,
  };
}

const offsetForm = '[A-Za-z0-9+/]{2,12}={0,2}';

/** The cursor of a number of rows. */
export const offsetCursor = cursorParameters({ pattern: `^${offsetForm}$` });

/** The cursor of a list that changes while it is read: of a row, not of a number of rows. */
export const rowCursor = cursorParameters({ pattern: `^(${offsetForm}|[A-Za-z0-9_-]{13,200})$` });

/** The id of something in the catalog. */
export const catalogId = Type.String({
  pattern: '^[0-9]+$',
  maxLength: 200,
  description: 'Number in the catalog.',
  examples: ['1'],
});

/** A token by its id or by its place in its condition (conventions.md part 3.12, 11). */
export const asset = Type.String({
  pattern: '^((0|[1-9][0-9]{0,77})|0x[0-9a-fA-F]{64}:[01])$',
  description: 'Token id, or `<condition>:<index>`.',
  examples: [sample.token],
});

const place = [65_535, Number.MAX_SAFE_INTEGER, 4_294_967_295]
  .map((max) => `(${wholeNumberForms(0, max)})`)
  .join('-');

/** The id of a trade: its place in the log. */
export const tradeIdText = Type.String({
  pattern: `^${place}$`,
  description: 'Id of one trade.',
  examples: ['3-77-0'],
});
/** A token id, or the condition id that means its first token. */
export const tokenOrCondition = Type.String({
  pattern: '^((0|[1-9][0-9]{0,77})|0x[0-9a-fA-F]{64})$',
  description: 'Token id; a condition id means its first token.',
  examples: [sample.token],
});

/** A slug of a list: any text. */
export const slug = Type.String({ minLength: 1, description: 'Slug.' });

/** Parameters of paths. */
export const pathOf = {
  token: Type.Object({ token_id: tokenId }),
  condition: Type.Object({ condition_id: conditionId }),
  catalogId: Type.Object({ id: catalogId }),
  slug: Type.Object({ slug: Type.String({ minLength: 1, description: 'Slug.' }) }),
  order: Type.Object({ id: orderId }),
  user: Type.Object({ user_address: address }),
} as const;

/** Both spellings of the rows of a page that reports take. */
export function pageOfReport(bounds: {
  readonly least?: number;
  readonly limit: number;
  readonly offset: number;
  readonly otherwise: number;
}) {
  return {
    limit: optional(
      wholeNumber(
        { min: bounds.least ?? 0, max: bounds.limit },
        `Rows; ${bounds.otherwise} by default. `,
      ),
    ),
    offset: optional(wholeNumber({ max: bounds.offset }, 'Rows before the page. ')),
  };
}
