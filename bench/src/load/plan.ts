import { cancelsPerRequestMax } from '@pm/schemas/http/trading';
import type { Rate } from './rates.ts';

/** Load of a step: rate, duration, wallets, markets and share of orders that take. */
export interface LoadShape {
  readonly rate: Rate;
  /** Seconds before the measurement at the same rate, so that the measured part begins and ends in the same state. */
  readonly leadSeconds: number;
  readonly seconds: number;
  readonly wallets: number;
  readonly markets: number;
  /** Share of orders that take: 0 to 0.5, as each needs another one to meet. */
  readonly fills: number;
}

export interface PlannedOrder {
  readonly wallet: number;
  readonly market: number;
  readonly outcome: 0 | 1;
  readonly price: string;
  /** Meets nothing and is canceled later. */
  readonly rests: boolean;
}

/** A request and its moment, in milliseconds from the start; orders by their place in the plan. */
export interface PlannedRequest {
  readonly kind: 'place' | 'cancel';
  readonly atMs: number;
  readonly wallet: number;
  readonly orders: readonly number[];
}

export interface LoadPlan {
  readonly orders: readonly PlannedOrder[];
  /** In the order of their moments. */
  readonly requests: readonly PlannedRequest[];
}

/** Each wallet cancels so often, in one request, what has rested for at least `restMs`. */
const cancelEveryMs = 1_000;
const restMs = 1_000;
/** Resting buys have prices from 0.10 to 0.39, so that those of the two tokens of a market never meet. */
const restingPrices = { lowest: 10, count: 30 };
const meetingPrice = '0.50';

/** Requests at even distances by wallets in turn, and the cancels that keep the books small. */
export function planLoad(shape: LoadShape): LoadPlan {
  const { rate, leadSeconds, seconds, wallets } = shape;
  const everyMs = (1_000 * rate.batch) / rate.perSecond;
  const count = Math.floor(((leadSeconds + seconds) * 1_000) / everyMs);
  const orders: PlannedOrder[] = [];
  const placements: PlannedRequest[] = [];
  for (let request = 0; request < count; request += 1) {
    const items = Array.from({ length: rate.batch }, (_, item) => request * rate.batch + item);
    for (const item of items.keys()) orders.push(plannedOrder(shape, request, item));
    const atMs = request * everyMs;
    placements.push({ kind: 'place', atMs, wallet: request % wallets, orders: items });
  }
  const cancels = planCancels(placements, orders, wallets);
  const requests = [...placements, ...cancels].sort((a, b) => a.atMs - b.atMs);
  return { orders, requests };
}

/** Two requests in a row are of two wallets and meet each other, item by item, in the share of fills. */
function plannedOrder(shape: LoadShape, request: number, item: number): PlannedOrder {
  const { rate, wallets, markets, fills } = shape;
  const pair = (request >> 1) * rate.batch + item;
  const meets = Math.floor((pair + 1) * 2 * fills) > Math.floor(pair * 2 * fills);
  const cents = restingPrices.lowest + (pair % restingPrices.count);
  return {
    wallet: request % wallets,
    market: pair % markets,
    outcome: request % 2 === 0 ? 0 : 1,
    price: meets ? meetingPrice : `0.${cents}`,
    rests: !meets,
  };
}

function planCancels(
  placements: readonly PlannedRequest[],
  orders: readonly PlannedOrder[],
  wallets: number,
): PlannedRequest[] {
  const endMs = placements.at(-1)?.atMs ?? 0;
  return Array.from({ length: wallets }, (_, wallet) => wallet).flatMap((wallet) => {
    const own = placements.filter((request) => request.wallet === wallet);
    const cancels: PlannedRequest[] = [];
    let done = 0;
    // The wallets cancel one after the other, not all at once.
    for (let atMs = cancelEveryMs * (1 + wallet / wallets); atMs <= endMs; atMs += cancelEveryMs) {
      const ripe = own.findIndex((request) => request.atMs > atMs - restMs);
      const upTo = ripe === -1 ? own.length : ripe;
      const resting = own.slice(done, upTo).flatMap((request) => request.orders);
      const ids = resting.filter((order) => orders[order]?.rests);
      done = upTo;
      for (let from = 0; from < ids.length; from += cancelsPerRequestMax)
        cancels.push({
          kind: 'cancel',
          atMs,
          wallet,
          orders: ids.slice(from, from + cancelsPerRequestMax),
        });
    }
    return cancels;
  });
}
