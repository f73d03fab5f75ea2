import { usageOf } from '@pm/deploy/local/process-table';
import autocannon from 'autocannon';
import type { ReadCase } from './cases.ts';

/** Rates of a server in one round. */
export interface Sample {
  /** Requests a second by the clock of the wall. */
  readonly wall: number;
  /** Requests a second of its processor time. */
  readonly onCpu: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

export interface Load {
  readonly pid: number;
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
}

/** Keeps connections busy with one read and measures the server's processor time. */
export async function load(
  { method, body, bodies }: ReadCase,
  { pid, url, connections, seconds }: Load,
): Promise<Sample> {
  const before = usageOf(pid).cpuSeconds;
  const headers: Record<string, string> =
    body === undefined ? {} : { 'content-type': 'application/json' };
  const { requests, latency, duration, errors, timeouts, non2xx } = await autocannon({
    url,
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(bodies && { requests: [{ setupRequest: nextOf(bodies) }] }),
    connections,
    duration: seconds,
  });
  const used = usageOf(pid).cpuSeconds - before;
  return {
    wall: requests.total / duration,
    onCpu: requests.total / used,
    p50: latency.p50,
    p99: latency.p99,
    failed: errors + timeouts + non2xx,
  };
}

/** One turn for all connections: each would send the same bodies shortly after another. */
function nextOf(bodies: readonly string[]): (request: object) => object {
  let next = 0;
  return (request) => {
    const body = bodies[next % bodies.length];
    next += 1;
    return { ...request, body };
  };
}
