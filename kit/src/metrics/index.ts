export type {
  CounterMetric,
  MetricDeclaration,
  MetricDeclarations,
  OpenedMetrics,
} from './declared.ts';
export { type Metrics, openMetrics } from './metrics.io.ts';
