/** A date, or a date and a time of day, of ISO 8601; a fraction of a second may be finer than milliseconds. */
const isoForm =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/**
 * Unix milliseconds of an ISO 8601 date or time; null when it is none. A date is its first moment, and what names no
 * zone is UTC, wherever the process runs. Days and hours that do not exist are refused, not rolled over: `2026-02-30`
 * is no March 2.
 */
export function parseTime(text: string): number | null {
  const match = isoForm.exec(text);
  if (match === null) return null;
  const [, day, minute = '00:00', seconds = '', zone = 'Z'] = match;
  const stated = `${day}T${minute}`;
  const statedMs = Date.parse(`${stated}${seconds}Z`);
  const timeMs = Date.parse(`${stated}${seconds}${zone}`);
  if (!Number.isSafeInteger(statedMs) || !Number.isSafeInteger(timeMs)) return null;
  return new Date(statedMs).toISOString().startsWith(stated) ? timeMs : null;
}
