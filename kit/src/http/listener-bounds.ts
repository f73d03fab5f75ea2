import { type Door, payloadTooLarge } from '@pm/schemas';

/** Bounds of an HTTP listener. Each can be overridden by `openHttp`'s `limits`. */
export interface HttpLimits {
  /** From the first byte of a request to the end of its headers, milliseconds. */
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to the end of its body, milliseconds. */
  readonly requestTimeoutMs: number;
  /** An idle connection is closed after this, milliseconds; longer than that of a load balancer before us. */
  readonly keepAliveTimeoutMs: number;
  /** Open connections; further ones are closed at once. */
  readonly maxConnections: number;
  /** All headers and the URL together, bytes; bounds the query string too. */
  readonly maxHeaderBytes: number;
  /** One part of a path, characters. */
  readonly maxParamChars: number;
  /** Arrays and objects inside each other in a body. */
  readonly maxJsonDepth: number;
}

export const defaultHttpLimits: HttpLimits = {
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  keepAliveTimeoutMs: 65_000,
  maxConnections: 10_000,
  maxHeaderBytes: 16 * 1024,
  maxParamChars: 256,
  maxJsonDepth: 8,
};

/** Limits of a public listener (limits.md). A gateway before both must accept the larger of each. */
export interface DoorBounds {
  /** All headers and the URL together, bytes. */
  readonly maxHeaderBytes: number;
  /** The largest body of any of its routes, bytes. */
  readonly bodyLimitBytes: number;
  /** The response to a larger one. */
  readonly tooLarge: TooLarge;
}

export interface TooLarge {
  readonly status: number;
  readonly text: string;
}

export const bodyTooLarge: TooLarge = { status: 413, text: 'the body is too large' };

export const doorBounds: Readonly<Record<Door, DoorBounds>> = {
  // A batch of 3,000 order ids to cancel fits into a body.
  ingress: {
    maxHeaderBytes: defaultHttpLimits.maxHeaderBytes,
    bodyLimitBytes: 256 * 1024,
    tooLarge: bodyTooLarge,
  },
  // 500 condition ids with their commas fit into a URL, 500 tokens of 78 digits with their keys into a body.
  'query-api': {
    maxHeaderBytes: 48 * 1024,
    bodyLimitBytes: 128 * 1024,
    tooLarge: payloadTooLarge,
  },
};

/** How often Node looks for connections beyond their timeouts, milliseconds. */
export const timeoutCheckMs = 1_000;

/** The verdict of a rate limit on one request, as its response headers report it. */
export interface Verdict {
  readonly isAllowed: boolean;
  readonly limit: number;
  /** Units left in the window as far as this process knows; other processes may have used some of them. */
  readonly remaining: number;
  /** Until the window ends, whole seconds, at least 1. */
  readonly resetSeconds: number;
}
