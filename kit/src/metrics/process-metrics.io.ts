import type {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
  LabelValues,
  MetricDeclarations,
  MetricOptions,
  OpenedMetrics,
} from './declared.ts';

/** One series of a gauge at a scrape. */
interface GaugeReading<L extends string> {
  readonly labels: LabelValues<L>;
  readonly value: number;
}

/**
 * The metrics of one process. A second metric of one name throws; so does a name or help that breaks the rules above.
 */
export interface Metrics {
  counter<const L extends string = never>(options: MetricOptions<L>): CounterMetric<L>;
  /** Opens every metric of a declaration under its key. Gauges that are read at a scrape are opened with `gauge`. */
  open<const D extends MetricDeclarations>(declared: D): OpenedMetrics<D>;
  /**
   * `read` and `readAll` are called at each scrape, for values that exist elsewhere: `read` without labels, `readAll`
   * with them. A series that `readAll` does not return any more is gone.
   */
  gauge<const L extends string = never>(options: GaugeOptions<L>): GaugeMetric<L>;
  /** `buckets` are upper bounds, ascending, in the unit of the name; default: 0.5 ms to 10 s. */
  histogram<const L extends string = never>(
    options: MetricOptions<L> & { readonly buckets?: readonly number[] },
  ): HistogramMetric<L>;
  /** All of them in Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** A gauge, and where its values are read. */
export interface GaugeOptions<L extends string> extends MetricOptions<L> {
  readonly read?: () => number;
  readonly readAll?: () => Iterable<GaugeReading<L>>;
}
