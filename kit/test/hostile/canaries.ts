import { inspect } from 'node:util';

/** Secrets that must not appear in anything stored, in any encoding. */
export class Canaries {
  readonly #writings = new Map<string, string>();

  /** A text as it is sent; what is also bytes in base64 or hex is looked for in the other writings too. */
  add(name: string, text: string): void {
    if (text.length < 16) throw new Error(`${name} is too short to be told from chance`);
    this.#writings.set(text, name);
    this.#writings.set(Buffer.from(text).toString('hex'), `${name}, its characters as hex`);
    this.#writings.set(
      Buffer.from(text)
        .toString('base64')
        .replace(/.{2}=*$/, ''),
      `${name} in base64`,
    );
    const bytes = bytesOf(text);
    if (bytes === null) return;
    for (const writing of ['hex', 'base64', 'base64url', 'latin1'] as const) {
      this.#writings.set(bytes.toString(writing).replace(/=+$/, ''), `${name} as ${writing}`);
    }
  }

  get count(): number {
    return this.#writings.size;
  }

  /** Which of them stand in a text. */
  foundIn(text: string): readonly string[] {
    return [...this.#writings].flatMap(([writing, name]) => (text.includes(writing) ? [name] : []));
  }
}

function bytesOf(text: string): Buffer | null {
  const digits = text.replace(/^0x/, '');
  if (/^([0-9a-f]{2}){16,}$/i.test(digits)) return Buffer.from(digits, 'hex');
  const base64 = /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, 'base64url') : null;
  return base64?.length === 32 ? base64 : null;
}

/** Everything that can be seen of a value, bytes in hex, hidden fields of errors too. */
export function seenOf(value: unknown): string {
  const options = { depth: 20, maxArrayLength: null, maxStringLength: null, breakLength: 10_000 };
  return inspect(withHexBytes(value, 12), { ...options, showHidden: true });
}

function withHexBytes(value: unknown, depth: number): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value !== 'object' || value === null || depth === 0) return value;
  if (value instanceof Error) {
    const { message, stack, cause } = value;
    return { ...value, message, stack, cause: withHexBytes(cause, depth - 1) };
  }
  if (value instanceof Map) return withHexBytes([...value], depth);
  if (Array.isArray(value)) return value.map((item) => withHexBytes(item, depth - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withHexBytes(field, depth - 1)]),
  );
}
