export {
  type CounterMetric,
  type GaugeMetric,
  type HistogramMetric,
  type LabelValues,
  type MetricOptions,
  type Metrics,
  openMetrics,
} from './metrics.io.ts';
