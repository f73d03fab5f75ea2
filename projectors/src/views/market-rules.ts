import { tables } from '@pm/schemas';
import { recordView, type View, writeSource } from './view.ts';

/** Table `market_rules`: one row a record that set the rules of a market. */
export function marketRulesView(partition: number): View {
  return recordView(tables.marketRules, ({ events, inOffset, timeMs }, to) => {
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index];
      if (event?.kind !== 'MarketSet') continue;
      writeSource(to, { partition, inOffset, index, timeMs });
      to.int(event.market).price(event.tick).micro(event.minSizeMicro);
      to.int(event.feeRateBps).word(event.mode).int(event.takerDelayMs).end();
    }
  });
}
