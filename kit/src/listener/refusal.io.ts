import { STATUS_CODES } from 'node:http';

/** Why a listener does not take a request, whatever comes after its head. */
export interface Refusal {
  readonly status: number;
  readonly error: string;
  /** Besides those of every error. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Browsers take a response for what its type says, and never guess another one. */
export const nosniff = ['x-content-type-options', 'nosniff'] as const;

/** The head of an error that ends its connection, with this body. */
export function errorHeaders(json: string): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(json)),
    [nosniff[0]]: nosniff[1],
    connection: 'close',
  };
}

/** Such an error in bytes, for a socket without a response object, which has to be ended after it. */
export function errorBytes(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): string {
  const json = JSON.stringify(body);
  const head = Object.entries({ ...errorHeaders(json), ...headers });
  const lines = head.map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines].join('\r\n')}\r\n\r\n${json}`;
}
