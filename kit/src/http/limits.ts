/** Bounds of a door. Every one can be overridden by `openHttp`'s `limits`. */
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

/** How often Node looks for connections beyond their timeouts, milliseconds. */
export const TIMEOUT_CHECK_MS = 1_000;
