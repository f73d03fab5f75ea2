import { isRedisAddress, redisAddressForms } from '../redis/address.ts';

/** The value of a text, or a refusal: with its reason, or null (the reader reports the allowed values). */
export type Parsed<T> = { readonly value: T } | { readonly reason: string } | null;

/** One variable of the environment: name, meaning, unit, allowed values in words, default, and parser of its text. */
export interface Field<T> {
  /** Name of the variable, unit last: `PM_BATCH_MS`. */
  readonly name: string;
  /** One sentence for operators: the effect of the value (docs/operating/configuration.md). */
  readonly meaning: string;
  /** Unit of a number: `milliseconds`, `records`. */
  readonly unit?: string;
  /** Allowed values in words, as shown to the operator. */
  readonly allowed: string;
  /** Taken when the variable is missing or empty; without one the variable is required. */
  readonly fallback?: Fallback<T>;
  /** A secret's text is never shown. */
  readonly secret: boolean;
  /** The text is a path, which may be relative to the working directory. */
  readonly isPath?: boolean;
  parse(text: string): Parsed<T>;
}

/** Fields by the name the code uses. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** The values of fields. */
export type ConfigOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};

/** The value of a missing variable; `shown` stands for it in documents where it differs between machines. */
export interface Fallback<T> {
  readonly value: T;
  readonly shown?: string;
}

/** Options of every kind of field. */
export interface Described<T> {
  readonly meaning: string;
  readonly default?: T;
}

/** The fallback of a field with this default. */
function fallbackOf<T>(options: Described<T>): { fallback?: Fallback<T> } {
  return options.default === undefined ? {} : { fallback: { value: options.default } };
}

const refused = null;

type TextOptions = Described<string> & {
  readonly pattern?: RegExp;
  readonly allowed?: string;
  readonly secret?: boolean;
  /** The default in words, where its value differs between machines. */
  readonly defaultShown?: string;
};

/** Any text, or what `pattern` allows (then `allowed` says it in words). `secret` hides the value in messages. */
export function text(name: string, options: TextOptions): Field<string> {
  const { meaning, pattern, defaultShown } = options;
  const { allowed = pattern === undefined ? 'any text' : `text like ${pattern.source}` } = options;
  const { fallback } = fallbackOf(options);
  return {
    name,
    meaning,
    allowed,
    secret: options.secret ?? false,
    ...(fallback === undefined
      ? {}
      : { fallback: defaultShown === undefined ? fallback : { ...fallback, shown: defaultShown } }),
    parse: (given) => (pattern === undefined || pattern.test(given) ? { value: given } : refused),
  };
}

type Span = Described<number> & {
  readonly min: number;
  readonly max: number;
  readonly unit: string;
};

/** A whole number in decimal digits from `min` to `max`, both included. */
export function integer(name: string, span: Span): Field<number> {
  return numberIn(name, span, { kind: 'whole', pattern: /^-?\d{1,16}$/ });
}

/** A decimal number from `min` to `max`, both included, without an exponent. */
export function decimal(name: string, span: Span): Field<number> {
  return numberIn(name, span, { kind: 'decimal', pattern: /^\d{1,12}(\.\d{1,6})?$/ });
}

function numberIn(
  name: string,
  { min, max, unit, ...options }: Span,
  { kind, pattern }: { readonly kind: string; readonly pattern: RegExp },
): Field<number> {
  return {
    name,
    meaning: options.meaning,
    unit,
    allowed: `a ${kind} number from ${min} to ${max}`,
    secret: false,
    ...fallbackOf(options),
    parse(given) {
      if (!pattern.test(given)) return refused;
      const value = Number(given);
      return value >= min && value <= max ? { value } : refused;
    },
  };
}

const switches = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

/** `1`, `true`, `0` or `false`. */
export function boolean(name: string, options: Described<boolean>): Field<boolean> {
  return {
    name,
    meaning: options.meaning,
    allowed: [...switches.keys()].join(', '),
    secret: false,
    ...fallbackOf(options),
    parse(given) {
      const value = switches.get(given);
      return value === undefined ? refused : { value };
    },
  };
}

/** An absolute URL of http or https, without a trailing slash. */
export function url(name: string, options: Described<string>): Field<string> {
  return {
    name,
    meaning: options.meaning,
    allowed: 'a URL starting with http:// or https://',
    secret: false,
    ...fallbackOf(options),
    parse(given) {
      if (!/^https?:\/\//.test(given) || !URL.canParse(given)) return refused;
      return { value: given.replace(/\/+$/, '') };
    },
  };
}

/** The address of a Redis server, or of Sentinels that know it, without a trailing slash. */
export function redisAddress(name: string, options: Described<string>): Field<string> {
  return {
    name,
    meaning: options.meaning,
    allowed: redisAddressForms,
    secret: false,
    ...fallbackOf(options),
    parse(given) {
      const value = given.replace(/\/+$/, '');
      return isRedisAddress(value) ? { value } : refused;
    },
  };
}

/** Items between commas, trimmed, none empty, none twice, each matching `pattern` when there is one. */
export function list(
  name: string,
  options: Described<readonly string[]> & { min?: number; max?: number; pattern?: RegExp },
): Field<readonly string[]> {
  const { min = 1, max = 100, pattern } = options;
  const like = pattern === undefined ? '' : ` like ${pattern.source}`;
  return {
    name,
    meaning: options.meaning,
    allowed: `${min} to ${max} different items${like}, separated by commas`,
    secret: false,
    ...fallbackOf(options),
    parse(given) {
      const items = given.split(',').map((item) => item.trim());
      const sound =
        items.length >= min &&
        items.length <= max &&
        new Set(items).size === items.length &&
        items.every((item) => item !== '' && (pattern === undefined || pattern.test(item)));
      return sound ? { value: items } : refused;
    },
  };
}

/** One of a closed list of texts. */
export function oneOf<const T extends string>(
  name: string,
  values: readonly T[],
  options: Described<NoInfer<T>>,
): Field<T> {
  return {
    name,
    meaning: options.meaning,
    allowed: values.join(', '),
    secret: false,
    ...fallbackOf(options),
    parse(given) {
      const value = values.find((one) => one === given);
      return value === undefined ? refused : { value };
    },
  };
}

/** Some secrets of so many bytes, separated by commas; none by default, and never shown. */
export function secrets(
  name: string,
  options: { readonly bytes: number; readonly max: number; readonly meaning: string },
): Field<readonly Buffer[]> {
  const one = secret(name, options);
  return {
    name,
    meaning: options.meaning,
    allowed: `up to ${options.max} times ${one.allowed}, separated by commas`,
    secret: true,
    fallback: { value: [] },
    parse(given) {
      const items = given.split(',').map((item) => one.parse(item.trim()));
      const values = items.flatMap((item) =>
        item !== null && 'value' in item ? [item.value] : [],
      );
      const isSound = values.length === items.length && items.length <= options.max;
      return isSound ? { value: values } : refused;
    },
  };
}

/** Exactly so many secret bytes as hex (with or without 0x) or base64url; never shown and without a default. */
export function secret(
  name: string,
  options: { readonly bytes: number; readonly meaning: string },
): Field<Buffer> {
  const { bytes, meaning } = options;
  return {
    name,
    meaning,
    allowed: `${bytes} bytes as ${2 * bytes} hex digits or as base64url`,
    secret: true,
    parse(given) {
      const hex = given.replace(/^0x/, '');
      if (hex.length === 2 * bytes && /^[0-9a-fA-F]+$/.test(hex)) {
        return { value: Buffer.from(hex, 'hex') };
      }
      const bare = given.replace(/=+$/, '');
      const value = Buffer.from(bare, 'base64url');
      return value.length === bytes && value.toString('base64url') === bare ? { value } : refused;
    },
  };
}
