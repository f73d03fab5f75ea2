import type { IncomingMessage } from 'node:http';
import type { Metrics } from '../metrics/index.ts';
import type { HttpApp } from './app.io.ts';
import type { Verdict } from './verdict.ts';

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
