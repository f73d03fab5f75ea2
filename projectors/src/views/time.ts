/** Milliseconds of a minute, the bucket of prices, and of an hour. */
const minuteMs = 60_000;
const hourMs = 3_600_000;

/** Start of the minute, Unix milliseconds. */
export function minuteOf(ms: number): number {
  return ms - (ms % minuteMs);
}

/** Start of the hour, Unix milliseconds. */
export function hourOf(ms: number): number {
  return ms - (ms % hourMs);
}

/** Start of the month, UTC, Unix milliseconds. */
export function monthOf(ms: number): number {
  if (ms < newest.fromMs || ms >= newest.toMs) newest = monthAround(ms);
  return newest.fromMs;
}

/** Records come many to a month. */
let newest = { fromMs: 0, toMs: 0 };

function monthAround(ms: number) {
  const date = new Date(ms);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { fromMs: Date.UTC(year, month), toMs: Date.UTC(year, month + 1) };
}
