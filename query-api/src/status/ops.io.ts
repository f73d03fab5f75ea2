import { openOpsListener } from '@pm/kit/health';
import type { Lifecycle } from '@pm/kit/lifecycle';
import type { Metrics } from '@pm/kit/metrics';
import type { QueryApiConfig } from '../config.ts';
import type { EngineWatch } from './engine-watch.io.ts';

/** What the operator's listener shows. */
interface OpsFacts {
  readonly engines: Pick<EngineWatch, 'redisUp' | 'clickhouseUp'>;
  isCaughtUp(): boolean;
  status(): object;
}

interface OpsFrame {
  readonly life: Pick<Lifecycle, 'onStop'>;
  readonly config: Pick<QueryApiConfig, 'opsHost' | 'opsPort'>;
  readonly metrics: Metrics;
}

/** Opens the listener of health, status and metrics. Throws `ops_port_unavailable` (stop). */
export async function openOps(
  { life, config, metrics }: OpsFrame,
  { engines, isCaughtUp, status }: OpsFacts,
): Promise<void> {
  const ready = () => {
    const reasons = [
      ...(isCaughtUp() ? [] : ['catalog']),
      ...(engines.redisUp() ? [] : ['redis']),
      ...(engines.clickhouseUp() ? [] : ['clickhouse']),
    ];
    return { ready: reasons.length === 0, reasons };
  };
  const { opsHost: host, opsPort: port } = config;
  const ops = await openOpsListener({ host, port, metrics, status, ready });
  life.onStop('ops listener', () => ops.close());
}
