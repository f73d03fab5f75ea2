export type {
  CounterMetric,
  MetricDeclaration,
  MetricDeclarations,
  OpenedMetrics,
} from './declared.ts';
export { heldReadings, measureHeld, memoryReadings } from './memory.io.ts';
export { openMetrics } from './metrics.io.ts';
export type { Metrics } from './process-metrics.io.ts';
