export {
  type CounterMetric,
  type GaugeMetric,
  type HistogramMetric,
  type Metrics,
  openMetrics,
} from './metrics.io.ts';
