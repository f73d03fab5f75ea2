import { payloadTooLarge } from '@pm/schemas/read-refusals';
import type { HttpService } from '@pm/schemas/routes/route';
import type { ShareLimits } from './shares.ts';

/** Bounds of an HTTP listener. Each can be overridden by `openHttp`'s `limits`. */
export interface HttpLimits {
  /** From the first byte of a request to the end of its headers, milliseconds. */
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to the end of its body, milliseconds. */
  readonly requestTimeoutMs: number;
  /** An idle connection of a client is closed after this, milliseconds. */
  readonly keepAliveTimeoutMs: number;
  /** An idle connection of a listener behind trusted proxies: longer than a load balancer keeps its own. */
  readonly proxyKeepAliveTimeoutMs: number;
  readonly connections: ConnectionLimits;
  readonly bodies: ShareLimits;
  /** All headers and the URL together, bytes; bounds the query string too. */
  readonly maxHeaderBytes: number;
  /** One part of a path, characters. */
  readonly maxParamChars: number;
  /** Arrays and objects inside each other in a body. */
  readonly maxJsonDepth: number;
}

/** Limits of open connections that are not upgraded. */
export interface ConnectionLimits {
  /**
   * Connections of one client's address (`PM_CONNECTIONS_PER_ADDRESS`); one without a request makes room for one more.
   */
  readonly perAddress: number;
  /** In which an address may open twice its share of connections again, evenly, milliseconds; 0 for no bound. */
  readonly renewMs: number;
  /** Connections of all clients; further ones are closed at once. */
  readonly inAll: number;
  /** A connection is cut off when its client has taken no byte of a response for this, milliseconds. */
  readonly stallMs: number;
}

/** When this part of all connections is open, idle ones of the address with the most make room. */
export const evictFrom = 0.8;

export const defaultHttpLimits: HttpLimits = {
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  keepAliveTimeoutMs: 10_000,
  proxyKeepAliveTimeoutMs: 65_000,
  connections: { perAddress: 256, renewMs: 5_120, inAll: 10_000, stallMs: 5_000 },
  bodies: { ofEach: 8 * 1024 * 1024, inAll: 64 * 1024 * 1024 },
  maxHeaderBytes: 16 * 1024,
  maxParamChars: 256,
  maxJsonDepth: 8,
};

/** Limits of a public listener (limits.md). A gateway before both must accept the larger of each. */
export interface ListenerBounds {
  /** All headers and the URL together, bytes. */
  readonly maxHeaderBytes: number;
  /** The response to a body beyond the limit of its route. */
  readonly tooLarge: TooLarge;
}

export interface TooLarge {
  readonly status: number;
  readonly text: string;
}

export const bodyTooLarge: TooLarge = { status: 413, text: 'the body is too large' };

export const listenerBounds: Readonly<Record<HttpService, ListenerBounds>> = {
  ingress: {
    maxHeaderBytes: defaultHttpLimits.maxHeaderBytes,
    tooLarge: bodyTooLarge,
  },
  // 500 condition ids with their commas fit into a URL.
  'query-api': {
    maxHeaderBytes: 48 * 1024,
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
