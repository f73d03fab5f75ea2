import type { Health, Readiness, Serving } from '@pm/kit/health';
import type { EngineWatch } from './engine-watch.io.ts';

/** State of the process that the operator's listener shows. */
interface OpsFacts {
  readonly engines: Pick<EngineWatch, 'redisUp' | 'clickhouseUp'>;
  isCaughtUp(): boolean;
  /** Readers of the log without answers, as reasons. */
  notFollowed(): readonly string[];
  status(): object;
}

/** Readiness of a process that answers from its memory and from engines, and follows the log. */
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

/** Serves once its memory is caught up: events, markets and their search are in it, whatever is away. */
export function servingOf(facts: Omit<OpsFacts, 'status'>): Serving {
  return { serving: facts.isCaughtUp(), reasons: readinessOf(facts).reasons };
}

export function healthOf(facts: OpsFacts): Health {
  return {
    status: () => facts.status(),
    ready: () => readinessOf(facts),
    serving: () => servingOf(facts),
  };
}
