import { markAgents } from '@pm/domain/accounts/agent-activity.io';
import { agentCredentials } from '@pm/domain/accounts/agent-key';
import { keyCredentials } from '@pm/domain/accounts/key-credentials';
import { limitRequests, type PayerFunds } from '@pm/domain/ratelimit/limit-requests.io';
import type { OpenedLimiter } from '@pm/domain/ratelimit/open-limiter.io';
import { type HttpApp, openHttp } from '@pm/kit/http';
import type { Lifecycle, Operations } from '@pm/kit/lifecycle';
import type { Log } from '@pm/kit/log';
import type { Metrics } from '@pm/kit/metrics';
import type { Traces } from '@pm/kit/traces';
import { bodyMaxBytes } from '@pm/schemas/routes/route';
import type { IngressConfig } from '../config.ts';
import { readinessOf, type StatusParts, servingOf, statusOf } from '../status.io.ts';
import { addPublicRoutes, type PublicServices } from './public.route.ts';

/** The address of the listener and the process around it. */
export interface ListenerFrame {
  readonly config: Pick<
    IngressConfig,
    'host' | 'httpPort' | 'trustedProxies' | 'connectionsPerAddress'
  >;
  readonly life: Pick<Lifecycle, 'onStop'>;
  readonly operations: Pick<Operations, 'report'>;
  readonly log: Log;
  /** Null when requests are not limited. */
  readonly limits: OpenedLimiter | null;
  readonly metrics: Metrics;
  /** Null while nothing is traced. */
  readonly traces?: Traces | null;
}

/** The services that the listener serves, caught up with the log. */
export interface ServedParts {
  readonly status: StatusParts;
  readonly traders: PublicServices;
  readonly funds: PayerFunds;
}

/** Opens the public listener, and says how it is from then on. */
export async function openListener(frame: ListenerFrame, parts: ServedParts): Promise<void> {
  const { config, life, operations, limits } = frame;
  const traders = openPublicApp(frame, parts);
  addPublicRoutes(traders, parts.traders, config.trustedProxies);
  await traders.listen({ host: config.host, port: config.httpPort });
  life.onStop('listener', () => traders.close());
  const { facts } = statusOf(parts.status);
  operations.report({
    status: () => ({ ...facts(), limits: limits?.facts() ?? 'off' }),
    ready: () => readinessOf(parts.status),
    serving: () => servingOf(parts.status),
  });
}

function openPublicApp(
  { config, log, metrics, limits, traces = null }: ListenerFrame,
  { traders: { accounts }, funds }: ServedParts,
): HttpApp {
  const { trustedProxies, connectionsPerAddress } = config;
  const agents = agentCredentials(accounts.agentDirectory, accounts.activity);
  const bodyLimitBytes = bodyMaxBytes.ingress;
  const bounds = { trustedProxies, connectionsPerAddress, bodyLimitBytes };
  const options = { log, metrics, traces, ...bounds, opensToPages: true };
  if (limits === null) {
    const app = openHttp(options);
    markAgents(app, agents);
    return app;
  }
  const byKey = keyCredentials(accounts.authentication.verify, accounts.keyDirectory);
  const credentials = [byKey, agents];
  return openHttp({ ...options, rateLimits: limitRequests({ ...limits, credentials, funds }) });
}
