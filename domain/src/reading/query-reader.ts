import { parseMicro } from '@pm/schemas/decimal';
import { readRefusalText } from '@pm/schemas/read-refusals';
import type { RouteFamily } from '@pm/schemas/routes/route';
import { parseTime } from '@pm/schemas/time';
import { ReadRefusal } from './refusal.ts';

/** Query parameters as the HTTP layer parses them: texts, and arrays of texts where a key is repeated. */
export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/** No parameter is longer: 500 condition ids with their commas fit. */
const textMaxChars = 40_000;
const integerPattern = /^-?\d{1,16}$/;
/** From 1973 to 2286. */
const secondsPattern = /^[1-9]\d{8,9}$/;
const numberPattern = /^\d{1,12}(\.\d{1,12})?$/;
const truths = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/**
 * Reads parameters by name and remembers the first refusal, in the words of the family. An empty value counts as
 * absent; a scalar given twice is refused.
 */
export class QueryReader {
  /** The first thing wrong; null when all is well so far. */
  refusal: ReadRefusal | null = null;
  readonly #query: RawQuery;
  readonly #family: RouteFamily;
  readonly #read = new Set<string>();

  constructor(query: RawQuery, family: RouteFamily) {
    this.#query = query;
    this.#family = family;
  }

  /**
   * The parameters read so far that have a value, without those named, as one text: equal for requests that ask for the
   * same. Parameters that nobody reads make no difference.
   */
  requested(without: readonly string[]): string {
    const named = [...this.#read].filter((name) => !without.includes(name)).sort();
    const given = named.map((name) => [name, [this.#query[name] ?? ''].flat().join(',')]);
    return JSON.stringify(given.filter(([, value]) => value !== ''));
  }

  /** Refuses parameters that are not in the list (the data family at the root). */
  onlyKnown(names: readonly string[]): void {
    for (const name of Object.keys(this.#query)) {
      if (!names.includes(name))
        this.fail(readRefusalText('unknown_field', { name: name.slice(0, 64) }));
    }
  }

  /** Records a refusal with status 400 unless there is one already. */
  fail(text: string): null {
    this.refusal ??= new ReadRefusal(400, text);
    return null;
  }

  /** Records that a parameter has no allowed value. */
  invalid(name: string): null {
    return this.fail(
      readRefusalText(this.#family === 'data' ? 'invalid_field' : 'invalid_parameter', { name }),
    );
  }

  missing(name: string): null {
    return this.fail(
      readRefusalText(this.#family === 'data' ? 'missing_field' : 'missing_parameter', { name }),
    );
  }

  /** A text of so many characters at most: code points, as the texts of the catalog are bounded. */
  text(name: string, maxChars = 200): string | null {
    const value = this.#given(name);
    if (value === undefined || value === '') return null;
    if (typeof value !== 'string' || isLonger(value, maxChars)) return this.invalid(name);
    return value;
  }

  integer(name: string, bounds: { min: number; max?: number; otherwise: number }): number {
    return this.optionalInteger(name, bounds) ?? bounds.otherwise;
  }

  /** Without `max` anything that a number holds exactly. */
  optionalInteger(
    name: string,
    { min, max = Number.MAX_SAFE_INTEGER }: { min: number; max?: number },
  ): number | null {
    const text = this.text(name);
    if (text === null) return null;
    const value = integerPattern.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : this.invalid(name);
  }

  /** The id of something in the catalog, which may not exist. */
  id(name: string): string | null {
    const text = this.text(name);
    if (text === null) return null;
    return parseCatalogId(text) ?? this.invalid(name);
  }

  /** A plain decimal >= 0, as its text. */
  decimal(name: string, otherwise: string): string {
    const text = this.text(name);
    if (text === null) return otherwise;
    return numberPattern.test(text) ? text : (this.invalid(name) ?? otherwise);
  }

  /** A plain decimal >= 0 of USDC or shares, in micro-units. */
  micro(name: string): number | null {
    const text = this.text(name);
    if (text === null) return null;
    return parseMicro(text) ?? this.invalid(name);
  }

  /** A date or time of ISO 8601 (`parseTime`), or Unix seconds of nine or ten digits; in Unix milliseconds. */
  time(name: string): number | null {
    const text = this.text(name);
    if (text === null) return null;
    if (secondsPattern.test(text)) return Number(text) * 1000;
    return parseTime(text) ?? this.invalid(name);
  }

  boolean(name: string): boolean | null {
    const text = this.text(name);
    if (text === null) return null;
    return truths.get(text.toLowerCase()) ?? this.invalid(name);
  }

  oneOf<const T extends string>(name: string, values: readonly T[], otherwise: NoInfer<T>): T {
    const text = this.text(name);
    if (text === null) return otherwise;
    return values.find((value) => value === text) ?? this.invalid(name) ?? otherwise;
  }

  /** Values between commas and of repeated keys, each made by `parse`; null when the parameter is absent. */
  list<T>(name: string, maxItems: number, parse: (text: string) => T | null): readonly T[] | null {
    const given = this.#given(name);
    if (given === undefined || given === '') return null;
    const texts = typeof given === 'string' ? [given] : given;
    if (texts.reduce((sum, text) => sum + text.length, 0) > textMaxChars) return this.invalid(name);
    const items = texts.flatMap((text) => text.split(',')).filter((text) => text !== '');
    if (items.length > maxItems) return this.invalid(name);
    const values: T[] = [];
    for (const item of items) {
      const value = parse(item);
      if (value === null) return this.invalid(name);
      values.push(value);
    }
    return values;
  }

  #given(name: string): RawQuery[string] {
    this.#read.add(name);
    return this.#query[name];
  }
}

function isLonger(text: string, maxChars: number): boolean {
  if (text.length <= maxChars) return false;
  return text.length > 2 * maxChars || [...text].length > maxChars;
}

/**
 * Ids of the catalog, and of comments, are integers without leading zeros. Any integer is kept as it is written, so
 * that one with leading zeros, or too long for an id, is not found like any other that nothing has; null for what is no
 * integer.
 */
export function parseCatalogId(text: string): string | null {
  return /^\d+$/.test(text) ? text : null;
}
