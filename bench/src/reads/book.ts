import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderSubmission } from '@pm/schemas';
import type { World } from '../world/world.ts';

const levelsPerSide = 45;
const perRequest = 15;
const visibleMs = 15_000;

/** Puts bids and asks (as BUYs of the other token) on many levels; resolves with the token once all can be read. */
export async function fillBook({ markets, traders }: World): Promise<string> {
  const [market] = markets;
  const [buyer, seller] = traders;
  if (market === undefined || buyer === undefined || seller === undefined) {
    throw new RangeError('a book needs a market and two traders');
  }
  const [token, other] = market.tokens;
  for (const [trader, tokenId] of [
    [buyer, token],
    [seller, other],
  ] as const) {
    const orders = Array.from({ length: levelsPerSide }, (_, level) => {
      const price = `0.${String(level + 2).padStart(2, '0')}`;
      const { orderId, body } = trader.sign({ tokenId, side: 'BUY', price, size: '10' });
      return { orderId, submission: JSON.parse(body) as OrderSubmission };
    });
    for (let from = 0; from < orders.length; from += perRequest) {
      const results = await trader.client.postOrders(orders.slice(from, from + perRequest));
      const refused = results.find((result) => !result.success);
      if (refused !== undefined) throw new Error(`a bench order was refused: ${refused.errorMsg}`);
    }
  }
  const deadline = Date.now() + visibleMs;
  for (;;) {
    const { bids, asks } = await buyer.client.book(token);
    if (bids.length === levelsPerSide && asks.length === levelsPerSide) return token;
    if (Date.now() > deadline)
      throw new Error(`only ${bids.length} and ${asks.length} levels are visible`);
    await sleep(100);
  }
}
