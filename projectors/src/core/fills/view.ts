import {
  apiKeyFromBytes,
  columnNames,
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

/** Tables `fills` (one row a fill), `wallet_fills` and `tape` (one row a wallet), `builder_fills` (one a builder named). */
export function fillsView(partition: number): View {
  const written = [tables.fills, tables.walletFills, tables.tape, tables.builderFills];
  return recordView(written, (execution) => {
    const fills: Row[] = [];
    const walletFills: Row[] = [];
    const tape: Row[] = [];
    const builderFills: Row[] = [];
    for (const [index, event] of execution.events.entries()) {
      if (event.kind !== 'Fill') continue;
      const source = [partition, execution.inOffset, index, timeText(execution.timeMs)];
      fills.push([...source, ...fillCells(event)]);
      walletFills.push([...source, ...takerCells(event)], [...source, ...makerCells(event)]);
      for (const { role, builder, ...trade } of sidesOf(event)) {
        const { wallet, market, outcome, side, price, size } = trade;
        tape.push([...source, role, wallet, market, outcome, side, price, size]);
        if (!noBuilder.equals(builder)) {
          const cells = [...publicCells(event), role, conditionIdFromBytes(builder)];
          builderFills.push([...source, ...cells]);
        }
      }
    }
    return [fills, walletFills, tape, builderFills];
  });
}

/** Partition, offset, index and time. */
const sourceColumns = 4;

const noBuilder = Buffer.alloc(32);

function sidesOf(fill: Fill) {
  const both = { market: fill.market, size: microText(fill.sizeMicro) };
  return [
    {
      ...both,
      role: 'TAKER',
      builder: fill.takerBuilder,
      wallet: walletFromBytes(fill.taker),
      outcome: fill.takerOutcome,
      side: fill.takerSide,
      price: priceText(fill.takerPrice),
    },
    {
      ...both,
      role: 'MAKER',
      builder: fill.makerBuilder,
      wallet: walletFromBytes(fill.maker),
      outcome: fill.makerOutcome,
      side: fill.makerSide,
      price: priceText(fill.makerPrice),
    },
  ] as const;
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

/** The cells of `builder_fills` that `fills` has too. */
function publicCells(fill: Fill): Row {
  const cells = fillCells(fill);
  return publicColumns.map((column) => cells[column] ?? '');
}

/** Where the cells of `fills` stand that say nothing of keys and builders, behind those that name the record. */
const publicColumns = (() => {
  const kept = columnNames(tables.builderFills);
  const own = columnNames(tables.fills).slice(sourceColumns);
  return own.flatMap((name, index) => (kept.includes(name) ? [index] : []));
})();

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
