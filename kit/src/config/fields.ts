/** The value of a text; null refuses it (the reader reports the allowed values). */
export type Parsed<T> = { readonly value: T } | null;

/** One variable of the environment: its name, the values it allows, its default, and the parser of its text. */
export interface Field<T> {
  /** Name of the variable, unit last: `PM_LINGER_MS`. */
  readonly name: string;
  /** The allowed values, as shown to the operator. */
  readonly allowed: string;
  /** Used when the variable is missing or empty; without one the variable is required. */
  readonly fallback?: { readonly value: T };
  /** A secret's text is never shown. */
  readonly secret: boolean;
  parse(text: string): Parsed<T>;
}

/** Fields by the name the code uses. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** The values of fields. */
export type ConfigOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};

/** An option of every kind of field. */
export interface Default<T> {
  readonly default?: T;
}

/** The fallback of a field with this default. */
export function fallbackOf<T>(options: Default<T>): { fallback?: { value: T } } {
  return options.default === undefined ? {} : { fallback: { value: options.default } };
}

const refused = null;

/** Any text, or what `pattern` allows (then `allowed` describes it). `secret` hides the value in messages. */
export function text(
  name: string,
  options: Default<string> & { pattern?: RegExp; allowed?: string; secret?: boolean } = {},
): Field<string> {
  const { pattern, allowed = pattern === undefined ? 'any text' : `text like ${pattern.source}` } =
    options;
  return {
    name,
    allowed,
    secret: options.secret ?? false,
    ...fallbackOf(options),
    parse: (given) => (pattern === undefined || pattern.test(given) ? { value: given } : refused),
  };
}

type Span = Default<number> & { readonly min: number; readonly max: number };

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
  { min, max, ...options }: Span,
  { kind, pattern }: { readonly kind: string; readonly pattern: RegExp },
): Field<number> {
  return {
    name,
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
export function boolean(name: string, options: Default<boolean> = {}): Field<boolean> {
  return {
    name,
    allowed: [...switches.keys()].join(', '),
    secret: false,
    ...fallbackOf(options),
    parse(given) {
      const value = switches.get(given);
      return value === undefined ? refused : { value };
    },
  };
}

/** An absolute URL of one of the protocols (default http and https), without a trailing slash. */
export function url(
  name: string,
  options: Default<string> & { protocols?: readonly string[] } = {},
): Field<string> {
  const { protocols = ['http', 'https'] } = options;
  return {
    name,
    allowed: `a URL starting with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`,
    secret: false,
    ...fallbackOf(options),
    parse(given) {
      if (!protocols.some((protocol) => given.startsWith(`${protocol}://`))) return refused;
      if (!URL.canParse(given)) return refused;
      return { value: given.replace(/\/+$/, '') };
    },
  };
}

/** Items between commas, trimmed, none empty, none twice, each matching `pattern` when there is one. */
export function list(
  name: string,
  options: Default<readonly string[]> & { min?: number; max?: number; pattern?: RegExp } = {},
): Field<readonly string[]> {
  const { min = 1, max = 100, pattern } = options;
  const like = pattern === undefined ? '' : ` like ${pattern.source}`;
  return {
    name,
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
  options: Default<NoInfer<T>> = {},
): Field<T> {
  return {
    name,
    allowed: values.join(', '),
    secret: false,
    ...fallbackOf(options),
    parse(given) {
      const value = values.find((one) => one === given);
      return value === undefined ? refused : { value };
    },
  };
}

/** Exactly so many secret bytes as hex (with or without 0x) or base64url; never shown and without a default. */
export function secret(name: string, options: { bytes: number }): Field<Buffer> {
  const { bytes } = options;
  return {
    name,
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
