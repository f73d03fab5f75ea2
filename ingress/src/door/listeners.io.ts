import { agentCredentials } from '@pm/domain/accounts/agent-credentials';
import { keyCredentials } from '@pm/domain/accounts/key-credentials';
import { markAgents } from '@pm/domain/accounts/mark-agents.io';
import { limitRequests } from '@pm/domain/ratelimit/limit-requests.io';
import type { DoorLimiter } from '@pm/domain/ratelimit/open-limiter.io';
import { openOpsListener } from '@pm/kit/health';
import { type HttpApp, openHttp } from '@pm/kit/http';
import type { Lifecycle } from '@pm/kit/lifecycle';
import type { Log } from '@pm/kit/log';
import type { Metrics } from '@pm/kit/metrics';
import type { WalletOwners } from '../accounts/wallet-owners.ts';
import { sweepOrders } from '../cancels/sweep.io.ts';
import type { IngressConfig } from '../config.ts';
import { openDoorMetrics } from '../metrics.ts';
import { addOperatorRoutes } from '../operator/operator.route.ts';
import type { OperatorPorts } from '../operator/ports.io.ts';
import { readinessOf, statusOf, type Watched } from '../status.ts';
import type { DoorPorts } from './ports.io.ts';
import { addDoorRoutes } from './public.route.ts';
import { batchBodyMaxBytes } from './request-checks.io.ts';

/** Where the doors are, and who closes them. */
export interface DoorFrame {
  readonly config: Pick<
    IngressConfig,
    'host' | 'opsPort' | 'operatorPort' | 'httpPort' | 'trustedProxies'
  >;
  readonly life: Pick<Lifecycle, 'onStop'>;
  readonly log: Log;
  /** Null when requests are not limited. */
  readonly limits: DoorLimiter | null;
  readonly metrics: Metrics;
}

/** What is behind the doors, caught up. */
export interface DoorParts {
  readonly watched: Watched & { readonly owners: Pick<WalletOwners, 'ownerOf'> };
  readonly operator: Omit<OperatorPorts, 'status' | 'sweep'>;
  readonly traders: Omit<DoorPorts, 'metrics'>;
}

/** The ops listener first, so that nothing is served unseen; the public door last. */
export async function openDoors(frame: DoorFrame, parts: DoorParts): Promise<void> {
  const { config, life, log, metrics } = frame;
  const { watched } = parts;
  const { facts, gauges } = statusOf(watched);
  const status = () => ({ ...facts(), limits: frame.limits?.facts() ?? 'off' });
  const ops = await openOpsListener({
    host: config.host,
    port: config.opsPort,
    metrics,
    status,
    ready: () => readinessOf(watched),
  });
  life.onStop('ops listener', () => ops.close());
  const operatorDoor = openHttp({ log, bodyLimitBytes: batchBodyMaxBytes });
  const { answers, partitions } = parts.traders;
  const swept = { answers, partitions, log: parts.operator.log, owners: watched.owners };
  addOperatorRoutes(operatorDoor, {
    ...{ ...parts.operator, status },
    sweep: (wallet) => sweepOrders(wallet, { ...swept, clock: parts.operator.clock }),
  });
  await listen(operatorDoor, config.operatorPort, frame);
  const { verify, agentDirectory, activity } = parts.traders;
  const agents = agentCredentials(agentDirectory, activity);
  const credentials = [keyCredentials(verify), agents];
  const door = openHttp({
    ...{ log, bodyLimitBytes: batchBodyMaxBytes, metrics, trustedProxies: config.trustedProxies },
    ...(frame.limits === null
      ? {}
      : { rateLimits: limitRequests({ ...frame.limits, credentials }) }),
  });
  if (frame.limits === null) markAgents(door, agents);
  addDoorRoutes(door, { ...parts.traders, metrics: openDoorMetrics(metrics, gauges) });
  await listen(door, config.httpPort, frame);
}

async function listen(door: HttpApp, port: number, { config, life }: DoorFrame): Promise<void> {
  await door.listen({ host: config.host, port });
  life.onStop(`door ${port}`, () => door.close());
}
