/** Header values by lower-case name, as Node reports them. */
export type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const timestampText = /^[1-9]\d{0,14}$/;

/** Timestamps from here on are milliseconds, smaller ones seconds (conventions.md 2.2). */
const millisecondsFrom = 100_000_000_000;

/** The text of a header; empty when it is missing or repeated, since it would be unclear which one counts. */
export function headerText(raw: RawHeaders, name: string): string {
  const value = raw[name.toLowerCase()];
  return typeof value === 'string' ? value : '';
}

/** Unix milliseconds of a timestamp in seconds or milliseconds; null when it is no plain decimal. */
export function readTimestampMs(text: string): number | null {
  if (!timestampText.test(text)) return null;
  const value = Number(text);
  return value >= millisecondsFrom ? value : value * 1000;
}

/** Largest distance of a signed timestamp from now in both directions, by the unit it is written in, milliseconds. */
export interface Freshness {
  /** Largest distance of timestamps in seconds, as clients of the family send them. */
  readonly secondsMs: number;
  /** Largest distance of timestamps in milliseconds. */
  readonly millisecondsMs: number;
}

/** A timestamp as it is signed, and its time in Unix milliseconds. */
export interface SignedTime {
  readonly timestamp: string;
  readonly timestampMs: number;
}

/** The window that a timestamp must lie in, milliseconds: its text says which unit it is in. */
export function freshnessOf(
  { timestamp, timestampMs }: SignedTime,
  { secondsMs, millisecondsMs }: Freshness,
): number {
  return Number(timestamp) === timestampMs ? millisecondsMs : secondsMs;
}

/** Whether a timestamp lies within its window around now, both edges included (conventions.md 2.4). */
export function isFresh(time: SignedTime, nowMs: number, freshness: Freshness): boolean {
  return Math.abs(nowMs - time.timestampMs) <= freshnessOf(time, freshness);
}
