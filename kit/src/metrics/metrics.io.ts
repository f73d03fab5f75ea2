import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { assert } from '../assert/index.ts';
import type {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
  LabelValues,
  MetricOptions,
  OpenedMetrics,
} from './declared.ts';
import { measureHeap } from './memory.io.ts';
import type { GaugeOptions, Metrics } from './process-metrics.io.ts';
import { SeriesHistogram } from './series.io.ts';

/** Label sets of one metric; further ones are counted together under `other`, so that input cannot fill memory. */
const maxSeries = 2_000;

const nameRule = /^pm_[a-z][a-z0-9_]*$/;
const defaultBuckets = [
  0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5,
  1, 2, 5, 10,
] as const;

/** How often the lag of the event loop is looked at, milliseconds: each look wakes the process. */
const lagStepMs = 50;

/** Opens the registry of this process with Node's own metrics: CPU, memory, event loop lag, collections. */
export function openMetrics(service: string): Metrics {
  const register = new Registry();
  register.setDefaultLabels({ service });
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: lagStepMs });
  const of = {
    counter: (options: MetricOptions<string>) => openCounter(register, options),
    gauge: (options: MetricOptions<string>) => openGauge(register, options),
    histogram: (options: MetricOptions<string>) => openHistogram(register, options),
  };
  const metrics: Metrics = {
    open: (declared) =>
      Object.fromEntries(
        Object.entries(declared).map(([key, metric]) => [key, of[metric.type](metric)]),
      ) as unknown as OpenedMetrics<typeof declared>,
    counter: (options) => openCounter(register, options),
    gauge: (options) => openGauge(register, options),
    histogram: (options) => openHistogram(register, options),
    text: () => register.metrics(),
    contentType: register.contentType,
  };
  measureHeap(metrics);
  return metrics;
}

function openCounter<L extends string>(
  register: Registry,
  options: MetricOptions<L>,
): CounterMetric<L> {
  const bound = boundLabels(options);
  const waiting: { labels: Record<string, string | number>; count: number }[] = [];
  const counter: Counter<string> = new Counter<string>({
    ...configuration(register, options),
    collect() {
      for (const series of waiting) {
        if (series.count > 0) this.inc(series.labels, series.count);
        series.count = 0;
      }
    },
  });
  if (!hasLabels(options)) counter.inc(0);
  return {
    add: (amount, ...[labels]) => counter.inc(bound(labels), amount),
    bind: (...[labels]) => {
      const series = { labels: bound(labels), count: 0 };
      waiting.push(series);
      return () => {
        series.count += 1;
      };
    },
  };
}

function openGauge<L extends string>(register: Registry, options: GaugeOptions<L>): GaugeMetric<L> {
  const { read, readAll } = options;
  assert(read === undefined || !hasLabels(options), 'a gauge that is read has no labels');
  assert(readAll === undefined || hasLabels(options), 'a gauge whose series are read has labels');
  const bound = boundLabels(options);
  const collect = function (this: Gauge<string>) {
    if (read !== undefined) this.set(read());
    if (readAll === undefined) return;
    this.reset();
    for (const { labels, value } of readAll()) this.set(bound(labels), value);
  };
  const gauge = new Gauge<string>({
    ...configuration(register, options),
    ...(read === undefined && readAll === undefined ? {} : { collect }),
  });
  return { set: (value, ...[labels]) => gauge.set(bound(labels), value) };
}

function openHistogram<L extends string>(
  register: Registry,
  options: MetricOptions<L> & { readonly buckets?: readonly number[] },
): HistogramMetric<L> {
  const { name, help, labelNames } = configuration(register, options);
  const bounds = options.buckets ?? defaultBuckets;
  const histogram = new SeriesHistogram({ name, help, bounds, labelNames, register });
  const bound = boundLabels(options);
  return {
    observe: (value, ...[labels]) => histogram.series(bound(labels)).observe(value),
    bind: (...[labels]) => {
      const series = histogram.series(bound(labels));
      return (value) => series.observe(value);
    },
  };
}

function configuration<L extends string>(register: Registry, options: MetricOptions<L>) {
  const { name, help, labels = [] } = options;
  assert(nameRule.test(name), `the metric name ${name} is pm_ and snake case`);
  assert(help.endsWith('.'), `the help of ${name} is a sentence`);
  return { name, help, labelNames: [...labels], registers: [register] };
}

function hasLabels(options: MetricOptions<string>): boolean {
  return options.labels !== undefined && options.labels.length > 0;
}

/** Lets the first `maxSeries` label sets through. */
function boundLabels<L extends string>(options: MetricOptions<L>) {
  const names = options.labels ?? [];
  const seen = new Set<string>();
  const other: Record<string, string> = Object.fromEntries(names.map((name) => [name, 'other']));
  return (labels: LabelValues<L> | undefined): Record<string, string | number> => {
    if (labels === undefined) return {};
    const series = names.map((name) => labels[name]).join('\u0000');
    if (seen.has(series)) return labels;
    if (seen.size >= maxSeries) return other;
    seen.add(series);
    return labels;
  };
}
