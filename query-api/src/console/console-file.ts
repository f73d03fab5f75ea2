import { createHash } from 'node:crypto';

/** A file of the console as it is sent. */
export interface ConsoleFile {
  readonly contentType: string;
  readonly bytes: Buffer;
  /** The bytes compressed with gzip; null where that is not shorter. */
  readonly gzip: Buffer | null;
  readonly etag: string;
}

/** The files of the console by their paths below its folder; empty when it is not built. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** Path of the page. */
export const consolePage = 'index.html';

/** Folder of the page of the API. */
export const docsFolder = 'docs';

/** Files that the build writes; others are not served. */
const contentTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
};

/** Content type by the ending of a name; null for files that are not served. */
export function contentTypeOf(name: string): string | null {
  const ending = name.slice(name.lastIndexOf('.') + 1);
  return Object.hasOwn(contentTypes, ending) ? (contentTypes[ending] ?? null) : null;
}

/** A file with its tag; `gzip` is dropped where it saves nothing. */
export function consoleFile(contentType: string, bytes: Buffer, gzip: Buffer): ConsoleFile {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  return { contentType, bytes, gzip: gzip.length < bytes.length ? gzip : null, etag };
}

/** Headers of the page: its own files, the API of the same origin and pictures; no frames, no inline code, no eval. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' https:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

/** Headers of the page of the API, whose viewer writes styles into its elements and has pictures in its style. */
export const docsHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
};
