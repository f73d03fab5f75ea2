/** Order statistics of samples and how figures are written. Nothing here is money. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** The sample below which a share `q` (0 to 1) of all samples lies; NaN when there are none. */
export function quantile(samples: ArrayLike<number>, q: number): number {
  const sorted = Float64Array.from(samples).sort();
  const index = Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1);
  return sorted[Math.max(0, index)] ?? Number.NaN;
}

export function spreadOf(samples: readonly number[]): Spread {
  return { min: quantile(samples, 0), median: quantile(samples, 0.5), max: quantile(samples, 1) };
}

/** "1.24 M", "83.1 k", "412": three digits. */
export function rateText(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (value >= 1e6) return `${(value / 1e6).toPrecision(3)} M`;
  if (value >= 1e3) return `${(value / 1e3).toPrecision(3)} k`;
  return value.toPrecision(3);
}

export function spreadText({ min, median, max }: Spread): string {
  return `${rateText(min)} / ${rateText(median)} / ${rateText(max)}`;
}

/** The quotient of two figures of one interleaved run. */
export function ratioText(value: number): string {
  if (!Number.isFinite(value)) return '-';
  return `${value >= 10 ? value.toFixed(1) : value.toFixed(2)}x`;
}

/** Milliseconds with significant digits. */
export function msText(ms: number): string {
  if (!Number.isFinite(ms)) return '-';
  return ms >= 100 ? ms.toFixed(0) : ms.toPrecision(3);
}

export function percentText(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

export function mebibytesText(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}
