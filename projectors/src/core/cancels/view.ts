import { apiKeyFromBytes, microText, orderIdFromBytes, tables, walletFromBytes } from '@pm/schemas';
import { type Row, recordView, type View } from '../rows.ts';
import { timeText } from '../time.ts';

/** Table `wallet_cancels`: one row a canceled order. */
export function cancelsView(partition: number): View {
  return recordView([tables.walletCancels], (execution) => {
    const rows: Row[] = [];
    for (const [index, event] of execution.events.entries()) {
      if (event.kind !== 'OrderCanceled') continue;
      rows.push([
        ...[partition, execution.inOffset, index, timeText(execution.timeMs)],
        walletFromBytes(event.maker),
        orderIdFromBytes(event.orderId),
        apiKeyFromBytes(event.apiKey),
        event.market,
        event.reason,
        microText(event.restMicro),
      ]);
    }
    return [rows];
  });
}
