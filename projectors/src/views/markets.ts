import { tables } from '@pm/schemas/tables/tables';
import type { RowMemory } from '../tables/row-memory.ts';
import { recordView, type View, writeSource } from './view.ts';

/** Table `market_rules`: one row for each event that set the rules of a market. */
export function marketRulesView(partition: number, memory: RowMemory): View {
  return recordView(
    tables.marketRules,
    memory,
    ({ events, inOffset, timeMs }, to, appendedAtMs) => {
      for (let index = 0; index < events.length; index += 1) {
        const event = events[index];
        if (event?.kind !== 'MarketSet') continue;
        writeSource(to, { partition, inOffset, index, timeMs, appendedAtMs });
        to.int(event.market).price(event.tick).micro(event.minSizeMicro);
        to.int(event.feeRateBps).word(event.mode).int(event.takerDelayMs).end();
      }
    },
  );
}

/** Table `resolutions`: the payout of a market's tokens, and from when on they pay it. */
export function resolutionsView(partition: number, memory: RowMemory): View {
  return recordView(
    tables.resolutions,
    memory,
    ({ events, inOffset, timeMs }, to, appendedAtMs) => {
      for (let index = 0; index < events.length; index += 1) {
        const event = events[index];
        if (event?.kind !== 'MarketResolved') continue;
        writeSource(to, { partition, inOffset, index, timeMs, appendedAtMs });
        to.int(event.market).price(event.payout0).int(inOffset).end();
      }
    },
  );
}
