/** A metric: its name (unit last, e.g. `pm_http_request_seconds`), a help sentence and all its labels. */
export interface MetricOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
}

/** A metric as it is declared, once: sources open it, and documents, dashboards and rules are checked against it. */
export interface MetricDeclaration extends MetricOptions<string> {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Upper bounds of a histogram, ascending, in the unit of the name. */
  readonly buckets?: readonly number[];
}

export type MetricDeclarations = Readonly<Record<string, MetricDeclaration>>;

/** A value for every label of a metric. */
export type LabelValues<L extends string> = Readonly<Record<L, string | number>>;
/** No argument for metrics without labels, otherwise all their labels. */
type LabelArgument<L extends string> = [L] extends [never] ? [] : [labels: LabelValues<L>];

/** Counts up. */
export interface CounterMetric<L extends string> {
  add(amount: number, ...labels: LabelArgument<L>): void;
  /** Adds one under labels known beforehand, for paths where a lookup is too expensive. */
  bind(...labels: LabelArgument<L>): () => void;
}

/** Goes up and down. */
export interface GaugeMetric<L extends string> {
  set(value: number, ...labels: LabelArgument<L>): void;
}

/** Counts observations in buckets. */
export interface HistogramMetric<L extends string> {
  observe(value: number, ...labels: LabelArgument<L>): void;
  /** Observes under labels known beforehand. */
  bind(...labels: LabelArgument<L>): (value: number) => void;
}

type LabelOf<D extends MetricDeclaration> = D extends {
  readonly labels: readonly (infer L extends string)[];
}
  ? L
  : never;

type OpenedMetric<D extends MetricDeclaration> = {
  counter: CounterMetric<LabelOf<D>>;
  gauge: GaugeMetric<LabelOf<D>>;
  histogram: HistogramMetric<LabelOf<D>>;
}[D['type']];

/** The metrics of a declaration under its keys. */
export type OpenedMetrics<D extends MetricDeclarations> = {
  readonly [K in keyof D]: OpenedMetric<D[K]>;
};
