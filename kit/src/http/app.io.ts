import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { Metrics } from '../metrics/index.ts';
import type { RequestTrace } from '../traces/index.ts';
import type { ClientAddress } from './client-address.io.ts';
import type { ExpressRoute } from './express-lane.io.ts';
import type { Verdict } from './listener-bounds.ts';

// Beside `HttpApp`, so that importers of the built package see the addition too.
declare module 'fastify' {
  interface FastifyRequest {
    /** The body exactly as received, for the HMAC; empty when there is none. */
    rawBody: Buffer;
    /** When its headers had arrived, milliseconds of `performance.now()`. */
    beganAtMs: number;
    /** The verdict of the rate limits on this request; null where none was given. */
    verdict: Verdict | null;
    /** The span of this request; absent unless it has a trace. */
    trace?: RequestTrace;
  }
  interface FastifyInstance {
    /** Declares that responses of `GET url` may be in memory: `find` is called before the framework (`ExpressLane`). */
    answerAtHand(url: string, route: Pick<ExpressRoute, 'prefix' | 'find'>): void;
    /** The counted address of the client of a request (`countedAddressBy`), by the trusted proxies of the app. */
    readonly countedAddress: ClientAddress;
    /** Says that the connection speaks no HTTP any more: what upgraded it bounds it. */
    upgraded(socket: Socket): void;
  }
}

/** An HTTP listener: fastify whose handlers get their types from TypeBox schemas. */
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

/** The limits of requests that this process can decide alone. */
export interface LimitsAtHand {
  /**
   * For a route: admits a request without credentials whose cost is already leased. Null, with nothing taken, when
   * only the hooks can decide.
   */
  of(method: string, url: string): (request: IncomingMessage) => Verdict | null;
}
