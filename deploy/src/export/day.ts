import { ExportError } from './export-error.ts';

/** A day of UTC. */
export interface Day {
  /** `YYYY-MM-DD`. */
  readonly name: string;
  /** Unix milliseconds of its first moment and of the first one behind it. */
  readonly fromMs: number;
  readonly toMs: number;
}

const dayMs = 86_400_000;
const form = /^\d{4}-\d{2}-\d{2}$/;

/** Throws `BAD_ARGUMENT` for what is no day of the calendar, `NOT_OVER` for one that has an end yet to come. */
export function parseDay(text: string, nowMs: number): Day {
  const fromMs = form.test(text) ? Date.parse(`${text}T00:00:00.000Z`) : Number.NaN;
  // Date.parse takes February 30 for March 2.
  if (Number.isNaN(fromMs) || new Date(fromMs).toISOString().slice(0, 10) !== text)
    throw new ExportError('BAD_ARGUMENT', `${text} is no day: write it as YYYY-MM-DD`);
  const toMs = fromMs + dayMs;
  if (toMs > nowMs) throw new ExportError('NOT_OVER', `${text} is not over (UTC)`);
  return { name: text, fromMs, toMs };
}
