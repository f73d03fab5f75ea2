import { signal } from '@preact/signals';

/** Milliseconds of the stages of an order of this page (`Server-Timing`), and of its whole round trip. */
export interface OrderTiming {
  readonly stages: readonly (readonly [name: string, ms: number])[];
  readonly wholeMs: number;
}

export const orderTimings = signal<readonly OrderTiming[]>([]);
const timingsMax = 20;

/** Takes the times of the newest placement out of the browser's list of requests. */
export function noteServerTiming(): void {
  const requests = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
  const newest = requests.findLast(({ name }) => name.endsWith('/order'));
  if (newest === undefined || newest.serverTiming.length === 0) return;
  const stages = newest.serverTiming.map(({ name, duration }) => [name, duration] as const);
  orderTimings.value = [{ stages, wholeMs: newest.duration }, ...orderTimings.value].slice(
    0,
    timingsMax,
  );
  performance.clearResourceTimings();
}
