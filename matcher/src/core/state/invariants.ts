import { complementPrice, lotMicro, notionalMicro } from '@pm/schemas/money';
import { assume } from '../assumption.ts';
import { at } from '../book/order-pool.ts';
import type { PriceLadders } from '../book/price-ladders.ts';
import { withNextTick } from './delayed-orders.ts';
import type { Market } from './markets.ts';
import { delayedMark, statusMask, statusOfFlags } from './order-results.ts';
import type { State } from './state.ts';

/**
 * Invariants between two records, checked over the whole state. Balances are also checked at every change
 * (positions.ts), queues at every order (book.ts), best prices of changed markets at the end of every record.
 */
export function assertState(state: State): void {
  const sums = tokenSums(state);
  for (const market of state.markets.list) {
    assertBook(state, market);
    const isKnown = market.mode !== 'RESOLVED' || state.markets.uncleared.includes(market);
    const isEmpty = state.book.anyOrder(market.slot) === -1 && state.delays.countOf(market) === 0;
    assume(isKnown || isEmpty, 'a resolved market with orders is listed');
    assertCollateral(market, sums[market.slot * 2] as number, sums[market.slot * 2 + 1] as number);
  }
  assertPositions(state);
  assertOwners(state);
  assertDelays(state);
  assertFencedIds(state);
  assertBooked(state);
  assume(state.book.touchedCount === 0, 'no level is left marked');
  assume(state.wallets.movedCount === 0, 'no wallet is left marked');
}

/** The cheap part, for the markets that the record touched. */
export function assertTops(state: State): void {
  const { ladders, toppedMarkets, toppedCount } = state.book;
  for (let index = 0; index < toppedCount; index += 1) {
    const market = toppedMarkets[index] as number;
    assertTop(ladders, market);
    assume(state.markets.at(market).collateralMicro >= 0, 'collateral is not negative');
  }
}

function assertTop(ladders: PriceLadders, market: number): void {
  const bid = ladders.bid(market);
  const ask = ladders.ask(market);
  assume(bid < ask, 'a book does not cross');
  assume(bid === 0 || ladders.isOccupied(market, bid), 'the best bid has orders');
  assume(ask === ladders.top(market) || ladders.isOccupied(market, ask), 'the best ask has orders');
}

function assertBook(state: State, { slot, tick }: Market): void {
  const { ladders } = state.book;
  assume(ladders.tick(slot) === tick, 'the book is on the tick of its market');
  assertTop(ladders, slot);
  for (let level = 1; level < ladders.top(slot); level += 1) {
    const isEmpty = ladders.first(slot, level) === -1;
    assume(isEmpty === (ladders.last(slot, level) === -1), 'a queue has both ends or none');
    assume(isEmpty !== ladders.isOccupied(slot, level), 'the bitmap shows the queues');
    if (!isEmpty) {
      const isOutside = level <= ladders.bid(slot) || level >= ladders.ask(slot);
      assume(isOutside, 'no order is inside the spread');
    }
    assume(
      queueLots(state, slot, level) === ladders.totalLots(slot, level),
      'a level is its orders',
    );
  }
}

/** Walks a queue; returns its lots. */
function queueLots(state: State, market: number, level: number): number {
  const { orders, ladders } = state.book;
  let lots = 0;
  let previous = -1;
  let order = ladders.first(market, level);
  for (; order !== -1; order = orders.get(order, at.next)) {
    assume(orders.get(order, at.previous) === previous, 'a queue reads the same both ways');
    assume(orders.get(order, at.market) === market, 'an order is in its own market');
    assume(orders.price0(order) === level * ladders.tick(market), 'an order is at its price');
    assume(orders.isBid(order) === level <= ladders.bid(market), 'an order is on its side');
    assume(orders.get(order, at.restLots) > 0, 'an order has lots');
    if (previous !== -1) {
      assume(orders.arrival(previous) < orders.arrival(order), 'a queue is in order of arrival');
    }
    lots += orders.get(order, at.restLots);
    previous = order;
  }
  return lots;
}

/** Tokens of all wallets, two numbers per market. */
function tokenSums(state: State): Float64Array {
  const sums = new Float64Array(state.markets.list.length * 2);
  for (const position of state.positions.table.slots()) {
    const base = state.positions.market(position) * 2;
    sums[base] = (sums[base] as number) + state.positions.totalMicro(position, 0);
    sums[base + 1] = (sums[base + 1] as number) + state.positions.totalMicro(position, 1);
  }
  return sums;
}

function assertCollateral(market: Market, sum0: number, sum1: number): void {
  if (market.mode === 'RESOLVED') {
    const due =
      notionalMicro(market.payout0, sum0) + notionalMicro(complementPrice(market.payout0), sum1);
    assume(due === market.collateralMicro, 'collateral pays all tokens out');
  } else {
    assume(sum0 === sum1, 'there are as many of both tokens');
    assume(sum0 === market.collateralMicro, 'each pair has its collateral');
  }
}

function assertPositions(state: State): void {
  const { positions } = state;
  const { orders } = state.book;
  const locked = new Float64Array(positions.table.capacity * 2);
  const resting = new Int32Array(positions.table.capacity);
  for (const order of orders.resting()) {
    const position = orders.get(order, at.position);
    resting[position] = (resting[position] as number) + 1;
    if (state.isBuy(order)) continue;
    const index = position * 2 + orders.outcome(order);
    locked[index] = (locked[index] as number) + orders.get(order, at.restLots) * lotMicro;
  }
  for (const { order, position } of state.delays.inOrder()) {
    resting[position] = (resting[position] as number) + 1;
    if (order.side === 'BUY') continue;
    const index = position * 2 + order.outcome;
    locked[index] = (locked[index] as number) + order.sizeMicro;
  }
  for (const position of positions.table.slots()) {
    const total = positions.totalMicro(position, 0) + positions.totalMicro(position, 1);
    assume(positions.orders(position) === resting[position], 'positions count orders');
    assume(total > 0 || resting[position] !== 0, 'a position has tokens or orders');
    const { mode } = state.markets.at(positions.market(position));
    const isRedeemed = mode === 'RESOLVED' && total === 0;
    for (const outcome of [0, 1]) {
      const of = positions.lockedMicro(position, outcome);
      const needed = isRedeemed ? 0 : locked[position * 2 + outcome];
      assume(of === needed, 'locked tokens are those of sells');
      assume(of <= positions.totalMicro(position, outcome), 'locked is at most the total');
    }
  }
}

/** Orders, their ids, accounts, wallets and expiries refer to each other. */
function assertOwners(state: State): void {
  const { orders } = state.book;
  const resting = new Int32Array(state.wallets.table.capacity);
  let expiring = 0;
  for (const order of orders.resting()) {
    const wallet = orders.get(order, at.wallet);
    resting[wallet] = (resting[wallet] as number) + 1;
    assertOwner(state, order);
    if (orders.expiresAtMs(order) === 0) continue;
    assume(state.expiries.has(order), 'an order that expires is known');
    expiring += 1;
  }
  for (const { wallet } of state.delays.inOrder()) {
    resting[wallet] = (resting[wallet] as number) + 1;
  }
  assume(expiring === state.expiries.count, 'no other order expires');
  for (const wallet of state.wallets.table.slots()) {
    assume(state.wallets.openOrders(wallet) === resting[wallet], 'wallets count orders');
  }
}

/** Delayed orders, their ids, accounts and positions refer to each other; no other id is delayed. */
function assertDelays(state: State): void {
  const { orderMemory, positions, accounts, delays } = state;
  const delayed = statusOfFlags.indexOf('DELAYED');
  let count = 0;
  for (const slot of orderMemory.table.slots()) {
    const isDelayed = (orderMemory.flags(slot) & statusMask) === delayed;
    assume(isDelayed === (orderMemory.order(slot) === delayedMark), 'an id shows its delay');
    if (isDelayed) count += 1;
  }
  assume(count === delays.count, 'every delayed order has its id');
  let lastMs = 0;
  for (const { order, market, releaseAtMs, isHeld, memory, ...of } of delays.inOrder()) {
    const endsAtMs = releaseAtMs === withNextTick ? Number.POSITIVE_INFINITY : releaseAtMs;
    assume(endsAtMs >= lastMs, 'delays are in the order of their ends');
    assume(isHeld || releaseAtMs !== withNextTick, 'only held orders wait for a tick');
    assume(orderMemory.id(memory).equals(order.orderId), 'a delayed order has its own id');
    assume(positions.wallet(of.position) === of.wallet, 'a delayed order is of its wallet');
    assume(positions.market(of.position) === market.slot, 'and of its market');
    assume(accounts.apiKey(of.account).equals(order.apiKey), 'and of its key');
    lastMs = endsAtMs;
  }
}

/** Orders that a tick judges rest, in order of arrival; no late one is among them. */
function assertBooked({ booked, book }: State): void {
  const late = [...booked.lateOrders()];
  const unjudged = [...booked.unjudged().orders];
  for (const orders of [late, unjudged]) {
    let last = 0;
    for (const order of orders) {
      assume(book.orders.get(order, at.restLots) > 0, 'an order that a tick judges rests');
      assume(book.orders.arrival(order) > last, 'such orders are in order of arrival');
      last = book.orders.arrival(order);
    }
  }
  assume(!unjudged.some((order) => booked.isLate(order)), 'a late order is judged');
}

function assertOwner(state: State, order: number): void {
  const { orders } = state.book;
  const memory = orders.get(order, at.memory);
  const position = orders.get(order, at.position);
  const wallet = orders.get(order, at.wallet);
  assume(state.orderMemory.order(memory) === order, 'an id finds its order');
  assume(state.positions.wallet(position) === wallet, 'an order is of its wallet');
  assume(state.positions.market(position) === orders.get(order, at.market), 'and of its market');
  const { ints, stride } = state.accounts.table;
  const signer = orders.get(order, at.account) * stride;
  assume(state.orderMemory.isSignedByWords(memory, ints, signer), 'an order is of its signer');
}

function assertFencedIds({ fencedIds, timeMs, bookAgeLimitMs }: State): void {
  assume(fencedIds.counted() === fencedIds.count, 'fenced ids are counted by signer');
  for (const { acceptedAtMs } of fencedIds.inOrder())
    assume(
      Math.abs(acceptedAtMs - timeMs) <= bookAgeLimitMs,
      'an id is fenced while it can be booked',
    );
}
