import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '@pm/deploy/local/process-table';
import { type ServiceProcess, startService } from '../child/service.ts';
import type { Installation } from '../world/installation.ts';

/** Reported offset of a view. */
export interface ViewStatus {
  readonly phase: string;
  /** Next offset of `executions[0]` whose effects are not stored yet. */
  readonly position: number;
}

/** Times so far: wall clock, processor time of the projector and of its engines; seconds. */
export interface Usage {
  readonly wall: number;
  readonly projector: number;
  readonly clickhouse: number;
  readonly kafka: number;
}

export interface Projector {
  /** Null while it does not respond. */
  status(view: string): Promise<ViewStatus | null>;
  /** Polls every `everyMs` until the view has reached an offset. */
  until(view: string, isFar: (status: ViewStatus) => boolean, everyMs: number): Promise<void>;
  /** Rows inserted so far, all tables. */
  rows(): Promise<number>;
  usage(): Usage;
  stop(): Promise<void>;
}

const waitMs = 180_000;

/** Starts the projectors as the stack does, with these variables; resolves before they are ready. */
export async function startProjector(
  place: Installation,
  env: Readonly<Record<string, string>>,
  nodeArguments: readonly string[] = [],
): Promise<Projector> {
  const description = { ...place.service('projectors', env), ready: async () => {} };
  const service = await startService(description, nodeArguments);
  const status = (view: string) => statusOf(place.projectorsUrl, view);
  return {
    status,
    async until(view, isFar, everyMs) {
      const deadline = performance.now() + waitMs;
      for (;;) {
        const found = await status(view);
        if (found !== null && isFar(found)) return;
        if (performance.now() > deadline)
          throw new Error(`${view} stands at ${JSON.stringify(found)}; ${description.logFile}`);
        await sleep(everyMs);
      }
    },
    rows: () => rowsOf(place.projectorsUrl),
    usage: () => usage(place, service),
    stop: () => service.stop(),
  };
}

function usage(place: Installation, { pid }: ServiceProcess): Usage {
  return {
    wall: performance.now() / 1000,
    projector: usageOf(pid).cpuSeconds,
    clickhouse: place.cpuSecondsOf('clickhouse'),
    kafka: place.cpuSecondsOf('kafka'),
  };
}

/** Times between two moments. */
export function between(from: Usage, to: Usage): Usage {
  return {
    wall: to.wall - from.wall,
    projector: to.projector - from.projector,
    clickhouse: to.clickhouse - from.clickhouse,
    kafka: to.kafka - from.kafka,
  };
}

async function statusOf(url: string, view: string): Promise<ViewStatus | null> {
  try {
    const answer = await fetch(`${url}/status`);
    const { views } = (await answer.json()) as { views: Record<string, ViewStatus[]> };
    return views[view]?.[0] ?? null;
  } catch {
    // Not listening yet.
    return null;
  }
}

async function rowsOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = text.matchAll(/^pm_projector_rows_total\{[^}]*\} (\S+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
