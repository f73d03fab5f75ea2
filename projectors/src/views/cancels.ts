import { tables } from '@pm/schemas';
import { recordView, type View, writeSource } from './view.ts';

/** Table `wallet_cancels`: one row a canceled order. */
export function cancelsView(partition: number): View {
  return recordView(tables.walletCancels, ({ events, inOffset, timeMs }, to) => {
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index];
      if (event?.kind !== 'OrderCanceled') continue;
      writeSource(to, { partition, inOffset, index, timeMs });
      to.hex(event.maker).hex(event.orderId).uuid(event.apiKey).int(event.market);
      to.word(event.reason).micro(event.restMicro).end();
    }
  });
}
