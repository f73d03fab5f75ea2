import {
  apiKeyFromBytes,
  conditionIdFromBytes,
  type Fill,
  microText,
  orderIdFromBytes,
  priceText,
  tables,
  walletFromBytes,
} from '@pm/schemas';
import { type Row, recordView, type View } from '../rows.ts';
import { timeText } from '../time.ts';

/** Tables `fills` (one row a fill) and `wallet_fills` (one row a wallet). */
export function fillsView(partition: number): View {
  return recordView([tables.fills, tables.walletFills], (execution) => {
    const fills: Row[] = [];
    const walletFills: Row[] = [];
    for (const [index, event] of execution.events.entries()) {
      if (event.kind !== 'Fill') continue;
      const source = [partition, execution.inOffset, index, timeText(execution.timeMs)];
      fills.push([...source, ...fillCells(event)]);
      walletFills.push([...source, ...takerCells(event)], [...source, ...makerCells(event)]);
    }
    return [fills, walletFills];
  });
}

function fillCells(fill: Fill): Row {
  return [
    fill.market,
    fill.match,
    microText(fill.sizeMicro),
    orderIdFromBytes(fill.takerOrderId),
    walletFromBytes(fill.taker),
    apiKeyFromBytes(fill.takerKey),
    fill.takerOutcome,
    fill.takerSide,
    priceText(fill.takerPrice),
    conditionIdFromBytes(fill.takerBuilder),
    orderIdFromBytes(fill.makerOrderId),
    walletFromBytes(fill.maker),
    apiKeyFromBytes(fill.makerKey),
    fill.makerOutcome,
    fill.makerSide,
    priceText(fill.makerPrice),
    conditionIdFromBytes(fill.makerBuilder),
    microText(fill.feeMicro),
    fill.feeRateBps,
  ];
}

function takerCells(fill: Fill): Row {
  return [
    walletFromBytes(fill.taker),
    'TAKER',
    fill.market,
    fill.takerOutcome,
    fill.takerSide,
    priceText(fill.takerPrice),
    microText(fill.sizeMicro),
    microText(fill.feeMicro),
    orderIdFromBytes(fill.takerOrderId),
    apiKeyFromBytes(fill.takerKey),
  ];
}

/** Makers pay no fee (docs/conventions.md 4.7). */
function makerCells(fill: Fill): Row {
  return [
    walletFromBytes(fill.maker),
    'MAKER',
    fill.market,
    fill.makerOutcome,
    fill.makerSide,
    priceText(fill.makerPrice),
    microText(fill.sizeMicro),
    '0',
    orderIdFromBytes(fill.makerOrderId),
    apiKeyFromBytes(fill.makerKey),
  ];
}
