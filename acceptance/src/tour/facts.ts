import { setTimeout as sleep } from 'node:timers/promises';
import type { ExchangeClient } from '@pm/client';

/** A market as lists of events show it. */
export interface TourMarket {
  readonly id: string;
  readonly slug: string;
  readonly conditionId: string;
  readonly tokens: readonly [string, string];
}

interface Named {
  readonly id: string;
  readonly slug: string;
}

/** What the stops of a tour ask about. */
export interface TourFacts {
  readonly event: EventRow;
  /** A tag that shares events with another one. */
  readonly tag: Named;
  readonly series: Named;
  readonly market: TourMarket;
  readonly wallet: string;
  /** An order of the wallet that rests, and the builder it was sent for. */
  readonly orderId: string;
  readonly builder: string;
  readonly commentId: string;
}

interface EventRow extends Named {
  readonly title: string;
  readonly tags: readonly Named[];
  readonly markets: readonly (Pick<TourMarket, 'id' | 'conditionId'> & {
    readonly clobTokenIds: string;
  })[];
}

/** A market is looked for so long: the demo has just begun to quote. */
const findMaxMs = 30_000;
const pauseMs = 500;
/** An order that buys at once is worth so many USDC; the least is one. */
const boughtUsdc = 5;
const restingSize = '5';
const builder = `0x${'70'.repeat(32)}`;
const nothing: Named = { id: '0', slug: 'none' };

/** Does what a newcomer would: buys, sells it back, buys again, leaves an order, says something. Rejects with an `Error`. */
export async function makeFacts(client: ExchangeClient, wallet: string): Promise<TourFacts> {
  const { event, tag, market, tick, bestAsk } = await findMarket(client);
  const [series = nothing] = await client.read<readonly Named[]>('/series', { limit: '1' });
  const [tokenId] = market.tokens;
  const { slug } = await client.read<Named>(`/markets/${market.id}`);
  const size = String(Math.ceil(boughtUsdc / Number(bestAsk)));
  const order = { tokenId, size, builder } as const;
  const atOnce = { ...order, timeInForce: 'FAK' } as const;
  const bought = await client.placeOrder({ ...atOnce, side: 'BUY', price: bestAsk });
  if (!bought.success) throw new Error(`the first order was refused: ${bought.errorMsg}`);
  await client.placeOrder({ ...atOnce, side: 'SELL', price: tick });
  await client.placeOrder({ ...atOnce, side: 'BUY', price: bestAsk });
  const resting = await client.placeOrder({
    ...{ ...order, side: 'BUY', price: tick, size: restingSize },
  });
  await client.comments.setProfile({ name: 'A visitor', bio: 'Took the tour.' });
  const { id } = await client.comments.write({
    parent_entity_type: 'Event',
    parent_entity_id: event.id,
    body: 'Prices look right to me.',
  });
  return {
    event,
    tag,
    series,
    market: { ...market, slug },
    wallet,
    builder,
    orderId: resting.orderID,
    commentId: id,
  };
}

interface Found {
  readonly event: EventRow;
  readonly tag: Named;
  readonly market: Omit<TourMarket, 'slug'>;
  readonly tick: string;
  readonly bestAsk: string;
}

/** A market that is quoted on both sides. */
async function findMarket(client: ExchangeClient): Promise<Found> {
  const deadlineMs = performance.now() + findMaxMs;
  while (performance.now() < deadlineMs) {
    const query = { limit: '100', order: 'volume24hr', ascending: 'false' };
    const events = await client.read<readonly EventRow[]>('/events', query);
    const [mostTags] = [...events].sort((one, other) => other.tags.length - one.tags.length);
    for (const event of events) {
      const found = await quotedMarket(client, event);
      if (found !== null) return { event, tag: mostTags?.tags[0] ?? nothing, ...found };
    }
    await sleep(pauseMs);
  }
  throw new Error(`no market was quoted on both sides for ${findMaxMs} ms`);
}

async function quotedMarket(
  client: ExchangeClient,
  event: EventRow,
): Promise<Omit<Found, 'event' | 'tag'> | null> {
  for (const { id, conditionId, clobTokenIds } of event.markets) {
    const tokens = JSON.parse(clobTokenIds) as [string, string];
    const { bids, asks, tick_size: tick } = await client.book(tokens[0]);
    const best = asks.at(-1);
    if (bids.length > 0 && best !== undefined)
      return { market: { id, conditionId, tokens }, tick, bestAsk: best.price };
  }
  return null;
}
