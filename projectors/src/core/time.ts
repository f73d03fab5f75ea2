/** Milliseconds of a minute, the bucket of prices. */
const minuteMs = 60_000;

/** The time that stands for none. */
export const epochText = '1970-01-01 00:00:00.000';

/** Unix milliseconds as ClickHouse reads a DateTime64(3): `2026-01-31 12:00:00.123`, UTC. */
export function timeText(ms: number): string {
  if (ms === newest.ms) return newest.text;
  const iso = new Date(ms).toISOString();
  const text = `${iso.slice(0, 10)} ${iso.slice(11, 23)}`;
  newest = { ms, text };
  return text;
}

/** All rows of a record have the same time, and records come many to a millisecond. */
let newest = { ms: 0, text: epochText };

/** The same without fractions, for a DateTime. */
export function secondText(ms: number): string {
  return timeText(ms).slice(0, 19);
}

/** Start of the minute, Unix milliseconds. */
export function minuteOf(ms: number): number {
  return ms - (ms % minuteMs);
}

/** Start of the hour, for a DateTime. */
export function hourText(ms: number): string {
  return `${timeText(ms).slice(0, 13)}:00:00`;
}

/** Start of the month, for a DateTime. */
export function monthText(ms: number): string {
  return `${timeText(ms).slice(0, 7)}-01 00:00:00`;
}
