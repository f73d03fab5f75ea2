import { type Judgement, no, yes } from './need.ts';

/** How far the clock of an engine is from that of this machine. */
export interface ClockReading {
  /** Positive where the engine is ahead, milliseconds. */
  readonly aheadMs: number;
  /** The reading is wrong by this at most, milliseconds. */
  readonly errorMs: number;
}

/** More than this shows in ages, limits and expiries of what is kept for a time, milliseconds. */
const clockDifferenceMaxMs = 1_000;

/** Reads the clock of an engine; `ask` resolves to Unix milliseconds. */
export async function readClock(ask: () => Promise<number>): Promise<ClockReading> {
  const startedMs = performance.now();
  const engineMs = await ask();
  const tookMs = performance.now() - startedMs;
  return { aheadMs: engineMs - (Date.now() - tookMs / 2), errorMs: tookMs / 2 };
}

export function judgeClock({ aheadMs, errorMs }: ClockReading): Judgement {
  const differenceMs = Math.round(Math.abs(aheadMs));
  const line = `${differenceMs} ms ${aheadMs < 0 ? 'behind' : 'ahead of'} this machine`;
  if (Math.abs(aheadMs) - errorMs <= clockDifferenceMaxMs) return yes(line);
  return no(line, 'let all machines follow one time source (NTP)');
}
