import { microText, priceText, tables } from '@pm/schemas';
import { type Row, recordView, type View } from '../rows.ts';
import { timeText } from '../time.ts';

/** Table `market_rules`: one row a record that set the rules of a market. */
export function marketRulesView(partition: number): View {
  return recordView([tables.marketRules], ({ events, inOffset, timeMs }) => {
    const rows: Row[] = [];
    for (const [index, event] of events.entries()) {
      if (event.kind !== 'MarketSet') continue;
      const { market, tick, minSizeMicro, feeRateBps, mode, takerDelayMs } = event;
      const source = [partition, inOffset, index, timeText(timeMs)];
      const grid = [priceText(tick), microText(minSizeMicro)];
      rows.push([...source, market, ...grid, feeRateBps, mode, takerDelayMs]);
    }
    return [rows];
  });
}
