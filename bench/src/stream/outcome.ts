import type { ExecutionEvent } from '@pm/schemas/log/executions';

/** Outcome of a stream in an engine. */
export interface Outcome {
  fills: number;
  /** Lots. */
  volume: number;
  refused: number;
  /** Codes of the refusals. */
  readonly codes: Set<string>;
}

export function emptyOutcome(): Outcome {
  return { fills: 0, volume: 0, refused: 0, codes: new Set() };
}

const microPerLot = 10_000;

/**
 * Adds the events of an envelope, and keeps the newest total of each level. A cancel that came too late is no refusal.
 */
export function countEvents(
  outcome: Outcome,
  events: readonly ExecutionEvent[],
  levels?: Map<string, number>,
): void {
  for (const event of events) {
    if (event.kind === 'Fill') {
      outcome.fills += 1;
      outcome.volume += event.sizeMicro / microPerLot;
    } else if (event.kind === 'OrderRefused' || event.kind === 'CommandRefused') {
      outcome.refused += 1;
      outcome.codes.add(event.code);
    } else if (event.kind === 'LevelChanged') {
      const side = event.side === 'BUY' ? 'bid' : 'ask';
      levels?.set(`${event.market} ${side} ${event.price}`, event.sizeMicro / microPerLot);
    }
  }
}

/** The levels that are not empty, in the format of `NpmBooks.levels`. */
export function levelTexts(levels: ReadonlyMap<string, number>): string[] {
  return [...levels].flatMap(([name, lots]) => (lots === 0 ? [] : [`${name} ${lots}`])).sort();
}
