/** Ends of a process in a row: by its own fault, and because an engine was away. */
export interface Ends {
  deaths: number;
  waits: number;
}

const secondPauseMs = 500;
/** While an engine is away, and of a process that ends by its own fault. */
const longestPauseMs = { waits: 8_000, deaths: 60_000 } as const;

/** The pause before the next start, milliseconds: none after the first end, then it doubles up to the longest. */
export function pauseMsAfter({ deaths, waits }: Readonly<Ends>): number {
  return Math.max(
    Math.min(doubledMs(deaths + waits), longestPauseMs.waits),
    Math.min(doubledMs(deaths), longestPauseMs.deaths),
  );
}

function doubledMs(ends: number): number {
  return ends <= 1 ? 0 : secondPauseMs * 2 ** Math.min(ends - 2, 10);
}
