/**
 * Amount that the orders of one day can lose, by the file of the day: one line an order, a later line replaces an
 * earlier one.
 */
export interface DayFile {
  readonly usedMicro: number;
  readonly lines: number;
}

/** Lines of a file; then no more orders that day. */
export const dayLinesMax = 20_000;

/** A line of the file. It begins with a line feed, so that it stays whole after a line that was cut off. */
export function spendingLine(orderId: string, micro: number): string {
  return `\n${JSON.stringify({ order: orderId, micro })}\n`;
}

/** Reads a file; null when a line is not one of `spendingLine`, so that nothing is known. */
export function readDayFile(text: string): DayFile | null {
  const amounts = new Map<string, number>();
  let lines = 0;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const entry = entryOf(line);
    if (entry === null) return null;
    amounts.set(entry.order, entry.micro);
    lines += 1;
  }
  const usedMicro = [...amounts.values()].reduce((sum, micro) => sum + micro, 0);
  return Number.isSafeInteger(usedMicro) ? { usedMicro, lines } : null;
}

function entryOf(line: string): { readonly order: string; readonly micro: number } | null {
  const match = /^\{"order":"(0x[0-9a-f]{64})","micro":(0|[1-9]\d{0,15})\}$/.exec(line);
  if (match === null) return null;
  return { order: match[1] ?? '', micro: Number(match[2]) };
}
