import { markAgents } from '@pm/domain/accounts/agent-activity.io';
import { agentCredentials } from '@pm/domain/accounts/agent-key';
import { keyCredentials } from '@pm/domain/accounts/key-credentials';
import { limitRequests, type PayerFunds } from '@pm/domain/ratelimit/limit-requests.io';
import type { DoorLimiter } from '@pm/domain/ratelimit/open-limiter.io';
import { openOpsListener } from '@pm/kit/health';
import { type HttpApp, openHttp } from '@pm/kit/http';
import type { Lifecycle } from '@pm/kit/lifecycle';
import type { Log } from '@pm/kit/log';
import type { Metrics } from '@pm/kit/metrics';
import type { Traces } from '@pm/kit/traces';
import { bodyMaxBytes } from '@pm/schemas';
import type { IngressConfig } from '../config.ts';
import { readinessOf, type StatusParts, statusOf } from '../status.io.ts';
import { addPublicRoutes, type PublicServices } from './public.route.ts';

/** The addresses of the listeners and the process around them. */
export interface ListenerFrame {
  readonly config: Pick<
    IngressConfig,
    'host' | 'opsHost' | 'opsPort' | 'httpPort' | 'trustedProxies' | 'connectionsPerAddress'
  >;
  readonly life: Pick<Lifecycle, 'onStop'>;
  readonly log: Log;
  /** Null when requests are not limited. */
  readonly limits: DoorLimiter | null;
  readonly metrics: Metrics;
  /** Null while nothing is traced. */
  readonly traces?: Traces | null;
}

/** The services that the listeners serve, caught up with the log. */
export interface ServedParts {
  readonly status: StatusParts;
  readonly traders: PublicServices;
  readonly funds: PayerFunds;
}

/** Opens the ops listener first, so that nothing is served without being observed, and the public listener after it. */
export async function openListeners(frame: ListenerFrame, parts: ServedParts): Promise<void> {
  const { config, life, metrics, limits } = frame;
  const { facts } = statusOf(parts.status);
  const status = () => ({ ...facts(), limits: limits?.facts() ?? 'off' });
  const ops = await openOpsListener({
    host: config.opsHost,
    port: config.opsPort,
    metrics,
    status,
    ready: () => readinessOf(parts.status),
  });
  life.onStop('ops listener', () => ops.close());
  const traders = openPublicApp(frame, parts);
  addPublicRoutes(traders, parts.traders, config.trustedProxies);
  await traders.listen({ host: config.host, port: config.httpPort });
  life.onStop('listener', () => traders.close());
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
