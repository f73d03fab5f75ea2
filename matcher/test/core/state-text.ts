import { at, ordersByArrival } from '../../src/core/book/order-pool.ts';
import type { State } from '../../src/core/state/state.ts';

/**
 * Content of a state, as text: clock, generation and mode; term and owner; markets by number; tokens by wallet, market
 * and outcome; resting orders by arrival; delayed ones by release; those that a tick judges; remembered ids; how many
 * fences there are, and fenced ids. The naive twin writes the same (`NaiveEngine.stateText`).
 */
export function stateText(state: State): string {
  return [
    [state.timeMs, state.generation, state.mode].join(' '),
    `term ${state.term} ${hex(state.owner)}`,
    ...marketLines(state),
    ...tokenLines(state),
    ...orderLines(state),
    ...state.delays
      .inOrder()
      .map(({ order, releaseAtMs, rests }) => `${hex(order.orderId)} ${releaseAtMs} ${rests}`),
    ...bookedLines(state),
    ...memoryLines(state),
    `fences ${state.fences.count}`,
    ...fencedIdLines(state),
  ].join('\n');
}

const hex = (bytes: Buffer): string => bytes.toString('hex');

function marketLines({ markets }: State): string[] {
  return markets.inOrder().map((market) => {
    const { number, tick, minSizeMicro, feeRateBps, mode, payout0, collateralMicro } = market;
    return ['market', number, tick, minSizeMicro, feeRateBps, mode, payout0, collateralMicro].join(
      ' ',
    );
  });
}

function tokenLines({ positions, wallets, markets }: State): string[] {
  const lines: string[] = [];
  for (const position of positions.table.slots()) {
    for (const outcome of [0, 1]) {
      const total = positions.totalMicro(position, outcome);
      if (total === 0) continue;
      const wallet = hex(wallets.bytes(positions.wallet(position)));
      lines.push(`${wallet}/${markets.at(positions.market(position)).number}/${outcome} ${total}`);
    }
  }
  return lines.sort();
}

function orderLines(state: State): string[] {
  const { orders } = state.book;
  const sorted = ordersByArrival(orders.freeze(new Int32Array(orders.slots)));
  return Array.from(sorted, (order) =>
    [
      hex(state.idOf(order)),
      state.marketOf(order).number,
      state.isBuy(order) ? 'BUY' : 'SELL',
      orders.outcome(order),
      state.ownPrice(order),
      orders.get(order, at.restLots) * 10_000,
      orders.expiresAtMs(order),
      hex(state.wallets.bytes(orders.get(order, at.wallet))),
    ].join(' '),
  );
}

/** Resting orders that no tick has judged, then those found late. */
function bookedLines(state: State): string[] {
  const idsOf = (orders: Iterable<number>): string =>
    [...orders].map((order) => hex(state.idOf(order))).join(' ');
  return [
    `new ${idsOf(state.booked.unjudged().orders)}`,
    `late ${idsOf(state.booked.lateOrders())}`,
  ];
}

function memoryLines({ orderMemory, requestMemory }: State): string[] {
  const ids = [...orderMemory.table.slots()].map((slot) => hex(orderMemory.id(slot)));
  return [...ids.sort(), `requests ${requestMemory.table.count}`];
}

function fencedIdLines({ fencedIds, bookAgeLimitMs }: State): string[] {
  return fencedIds.inOrder().map(({ signer, orderId, acceptedAtMs }) => {
    return `fenced ${hex(signer)} ${hex(orderId)} ${acceptedAtMs + bookAgeLimitMs}`;
  });
}

/** Equal values give equal texts: fields in order of their names, bytes as hex. */
export function textOf(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  if (value === null || typeof value !== 'object') return String(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return fields.map(([name, field]) => `${name}:${textOf(field)}`).join();
}
