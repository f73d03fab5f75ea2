import { parseTime } from '@pm/schemas/time';
import { ExportError } from './export-error.ts';

/** A day of UTC. */
export interface Day {
  /** `YYYY-MM-DD`. */
  readonly name: string;
  /** Start of the day and of the next one, Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
}

const dayMs = 86_400_000;
const form = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Throws `BAD_ARGUMENT` for text that is no day of the calendar, `NOT_OVER` for a day that is not over; with
 * `isPartial` only for one that has not begun.
 */
export function parseDay(text: string, nowMs: number, { isPartial = false } = {}): Day {
  const fromMs = form.test(text) ? parseTime(text) : null;
  if (fromMs === null)
    throw new ExportError('BAD_ARGUMENT', `${text} is no day: write it as YYYY-MM-DD`);
  const toMs = fromMs + dayMs;
  if (fromMs > nowMs) throw new ExportError('NOT_OVER', `${text} has not begun (UTC)`);
  if (toMs > nowMs && !isPartial)
    throw new ExportError(
      'NOT_OVER',
      `${text} is not over (UTC): come back when it is, or write with --partial what is complete of it`,
    );
  return { name: text, fromMs, toMs };
}
