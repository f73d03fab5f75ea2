/** The window of rates, which Grafana fits to the time between two scrapes. */
const window = '$__rate_interval';

/** Increase a second of a counter. */
export const rate = (selector: string) => `rate(${selector}[${window}])`;

/** The 99th percentile of a histogram, by the labels of `by`. */
export const p99 = (histogram: string, by: string, labels = '') =>
  `histogram_quantile(0.99, sum by (${['le', ...(by === '' ? [] : [by])].join(', ')}) (${rate(`${histogram}_bucket${labels}`)}))`;
