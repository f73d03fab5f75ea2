import { createPrivateKey, X509Certificate } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Field, Parsed } from './fields.ts';

/** Bytes of a file that a variable names. */
const fileBytesMax = 1 << 20;

interface FileOptions {
  readonly meaning: string;
}

/** A file with one or several certificates; the value is its text, empty without one. It is read once, at the start. */
export function certificateFile(name: string, options: FileOptions): Field<string> {
  return fileField(name, options, 'a file with certificates in PEM', (content) => {
    const found = content.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    if (found.length === 0) throw new Error('it has no certificate in PEM');
    for (const one of found) new X509Certificate(one);
    return content;
  });
}

/** A file with a private key that has no passphrase; the value is its text, empty without one. */
export function privateKeyFile(name: string, options: FileOptions): Field<string> {
  return fileField(
    name,
    options,
    'a file with a private key in PEM, without a passphrase',
    (content) => {
      createPrivateKey(content);
      return content;
    },
  );
}

/** A file with one line, as mounted secrets are; the value is that line, empty without a file. */
export function secretFile(name: string, options: FileOptions): Field<string> {
  return fileField(name, options, 'a file with one line', (content) => {
    const line = content.replace(/\r?\n$/, '');
    if (line === '' || /[\r\n\0]/.test(line)) throw new Error('it does not have exactly one line');
    return line;
  });
}

/** A file that is read again whenever its content is needed; the value is its path, empty without one. */
export function tokenFile(name: string, options: FileOptions): Field<string> {
  const { parse, ...field } = fileField(name, options, 'a readable file', (content) => content);
  return {
    ...field,
    parse(given) {
      const read = parse(given);
      return read !== null && 'value' in read ? { value: resolve(given) } : read;
    },
  };
}

function fileField(
  name: string,
  { meaning }: FileOptions,
  allowed: string,
  read: (content: string) => string,
): Field<string> {
  return {
    name,
    meaning,
    allowed,
    secret: false,
    isPath: true,
    fallback: { value: '' },
    parse: (given) => parsedFile(given, read),
  };
}

/** The reason of a refusal has no content of the file. */
function parsedFile(given: string, read: (content: string) => string): Parsed<string> {
  let content: string;
  try {
    content = readBounded(resolve(given), fileBytesMax);
  } catch (error) {
    return {
      reason: `the file cannot be read (${Reflect.get(Object(error), 'code') ?? 'too large'})`,
    };
  }
  try {
    return { value: read(content) };
  } catch (error) {
    const isOwn = error instanceof Error && error.message.startsWith('it ');
    return { reason: isOwn ? error.message : 'the file has something else, or is damaged' };
  }
}

/** The text of a small file. Throws for a larger one. */
export function readBounded(file: string, bytesMax: number): string {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(bytesMax + 1);
    let length = 0;
    for (;;) {
      const read = readSync(descriptor, bytes, length, bytes.length - length, null);
      if (read === 0) return bytes.toString('utf8', 0, length);
      length += read;
      if (length > bytesMax) throw new Error(`more than ${bytesMax} bytes`);
    }
  } finally {
    closeSync(descriptor);
  }
}
