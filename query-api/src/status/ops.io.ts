import { openOpsListener, type Readiness } from '@pm/kit/health';
import type { Lifecycle } from '@pm/kit/lifecycle';
import type { Metrics } from '@pm/kit/metrics';
import type { QueryApiConfig } from '../config.ts';
import type { EngineWatch } from './engine-watch.io.ts';

/** What the operator's listener shows. */
interface OpsFacts {
  readonly engines: Pick<EngineWatch, 'redisUp' | 'clickhouseUp'>;
  isCaughtUp(): boolean;
  /** Readers of the log without answers, as reasons. */
  notFollowed(): readonly string[];
  status(): object;
}

/** Of a process that answers from its memory and from engines, and follows the log. */
export function readinessOf({
  engines,
  isCaughtUp,
  notFollowed,
}: Omit<OpsFacts, 'status'>): Readiness {
  const reasons = [
    ...(isCaughtUp() ? [] : ['catalog']),
    ...(engines.redisUp() ? [] : ['redis']),
    ...(engines.clickhouseUp() ? [] : ['clickhouse']),
    ...notFollowed(),
  ];
  return { ready: reasons.length === 0, reasons };
}

interface OpsFrame {
  readonly life: Pick<Lifecycle, 'onStop'>;
  readonly config: Pick<QueryApiConfig, 'opsHost' | 'opsPort'>;
  readonly metrics: Metrics;
}

/** Opens the listener of health, status and metrics. Throws `ops_port_unavailable` (stop). */
export async function openOps({ life, config, metrics }: OpsFrame, facts: OpsFacts): Promise<void> {
  const { opsHost: host, opsPort: port } = config;
  const status = () => facts.status();
  const ops = await openOpsListener({
    host,
    port,
    metrics,
    status,
    ready: () => readinessOf(facts),
  });
  life.onStop('ops listener', () => ops.close());
}
