import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { Metrics } from '../metrics/index.ts';
import type { ExpressRoute } from './express-lane.io.ts';
import type { Verdict } from './limits.ts';

// Beside `HttpApp`, so that whoever imports it from the built package sees the addition too.
declare module 'fastify' {
  interface FastifyRequest {
    /** The body exactly as received, for the HMAC; empty when there is none. */
    rawBody: Buffer;
    /** When its headers had arrived, milliseconds of `performance.now()`. */
    beganAtMs: number;
    /** What the rate limits said of this request; null where they said nothing. */
    verdict: Verdict | null;
  }
  interface FastifyInstance {
    /** Says that answers of `GET url` may be at hand: `find` is asked before the framework sees the request (`ExpressLane`). */
    answerAtHand(url: string, route: Pick<ExpressRoute, 'prefix' | 'find'>): void;
  }
}

/** A door: fastify whose handlers get their types from TypeBox schemas. */
export type HttpApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** The rate limits of a listener. */
export interface RequestLimits {
  /** Adds the hooks that limit the public routes; called before the routes are added. */
  attach(app: HttpApp, metrics?: Metrics): LimitsAtHand;
}

/** The limits of requests that need not be asked about. */
export interface LimitsAtHand {
  /**
   * Of a route: lets a request pass when it brings no credentials and what it costs is leased already. Null, with nothing taken,
   * when only the hooks can tell.
   */
  of(method: string, url: string): (request: IncomingMessage) => Verdict | null;
}
