import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { nodeOptions } from '../config/node-options.io.ts';
import type { MetricDeclarations } from './declared.ts';
import type { Metrics } from './process-metrics.io.ts';

/** Memory of a process, read at each scrape. */
export const memoryReadings = {
  heapLimit: {
    type: 'gauge',
    name: 'pm_heap_limit_bytes',
    help: 'Bound of the JavaScript heap without young objects; beyond it the process ends.',
  },
  heapOld: {
    type: 'gauge',
    name: 'pm_heap_old_bytes',
    help: 'JavaScript heap without young objects, with garbage that was not collected yet.',
  },
} as const satisfies MetricDeclarations;

/** Entries in the memory of a process, read at each scrape. */
export const heldReadings = {
  entries: {
    type: 'gauge',
    name: 'pm_held_entries',
    help: 'Entries that a process keeps in memory, by kind: markets, API keys, orders.',
    labels: ['what'],
  },
} as const satisfies MetricDeclarations;

const limitOption = /--max-old-space-size[= ](\d+)/g;
const mebibyte = 1024 * 1024;

/** Opens the gauges of the heap. */
export function measureHeap(metrics: Pick<Metrics, 'gauge'>): void {
  const limitBytes = heapLimitBytes(nodeOptions());
  metrics.gauge({ ...memoryReadings.heapLimit, read: () => limitBytes });
  metrics.gauge({ ...memoryReadings.heapOld, read: oldBytes });
}

/** Opens the gauge of what the process keeps. */
export function measureHeld(
  metrics: Pick<Metrics, 'gauge'>,
  counts: () => Readonly<Record<string, number>>,
): void {
  metrics.gauge({
    ...heldReadings.entries,
    readAll: () => Object.entries(counts()).map(([what, value]) => ({ labels: { what }, value })),
  });
}

/** The last option counts. V8 itself shows a limit with the space of young objects, which is not there for others. */
function heapLimitBytes(options: readonly string[]): number {
  const given = [...options.join(' ').matchAll(limitOption)].at(-1)?.[1];
  return given === undefined ? getHeapStatistics().heap_size_limit : Number(given) * mebibyte;
}

function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => !name.startsWith('new_'))
    .reduce((sum, space) => sum + space.space_used_size, 0);
}
