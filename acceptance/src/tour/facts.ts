import { setTimeout as sleep } from 'node:timers/promises';
import type { ExchangeClient } from '@pm/client';
import { type ChosenMarket, chooseMarket, type ListedEvent, tokensOf } from './choose-market.ts';

/** A market with both of its names. */
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

/** Subjects of the reads of a tour. */
export interface TourFacts {
  readonly event: Pick<ListedEvent, 'id' | 'slug' | 'title'>;
  /** A tag that shares events with another one. */
  readonly tag: Named;
  readonly series: Named;
  readonly market: TourMarket;
  readonly wallet: string;
  /** An order of the wallet that rests, and its builder. */
  readonly orderId: string;
  readonly builder: string;
  readonly commentId: string;
  /** Name of a file of the console; empty where the console is not built. */
  readonly consoleFile: string;
}

/** Time to find a market with depth and to buy there, milliseconds: the demo may have just begun to quote. */
const findMaxMs = 15_000;
const pauseMs = 500;
/** Tokens of one request for books. */
const booksPerRequest = 500;
const restingSize = '5';
const builder = `0x${'70'.repeat(32)}`;
const nothing: Named = { id: '0', slug: 'none' };

/**
 * First steps of a new user: buys, sells, buys again, leaves an order and a comment. So the wallet has a position,
 * trades, an open order and activity to read. Throws an `Error` when there is no market with depth.
 */
export async function makeFacts(
  client: ExchangeClient,
  baseUrl: string,
  wallet: string,
): Promise<TourFacts> {
  const { events, market } = await buySomewhere(client);
  const { event, id, conditionId, tokens, tick, size, price } = market;
  const order = { tokenId: tokens[0], size, builder } as const;
  await client.placeOrder({ ...order, side: 'SELL', price: tick, timeInForce: 'FAK' });
  await client.placeOrder({ ...order, side: 'BUY', price, timeInForce: 'FAK' });
  const resting = await client.placeOrder({
    ...order,
    side: 'BUY',
    price: tick,
    size: restingSize,
  });
  const commentId = await writeComment(client, event.id);
  const { slug } = await client.read<Named>(`/markets/${id}`);
  const [series = nothing] = await client.read<readonly Named[]>('/series', { limit: '1' });
  const [mostTags] = [...events].sort((one, other) => other.tags.length - one.tags.length);
  return {
    event,
    tag: mostTags?.tags[0] ?? nothing,
    series,
    market: { id, slug, conditionId, tokens },
    wallet,
    builder,
    orderId: resting.orderID,
    commentId,
    consoleFile: await findConsoleFile(baseUrl),
  };
}

interface Bought {
  readonly events: readonly ListedEvent[];
  readonly market: ChosenMarket;
}

/** Chooses a market with depth and buys there; chooses again when its quotes have moved away meanwhile. */
async function buySomewhere(client: ExchangeClient): Promise<Bought> {
  const deadlineMs = performance.now() + findMaxMs;
  let reason = 'no market has depth on both sides';
  while (performance.now() < deadlineMs) {
    const query = { limit: '100', order: 'volume24hr', ascending: 'false' };
    const events = await client.read<readonly ListedEvent[]>('/events', query);
    const market = chooseMarket(events, await readBooks(client, tokensOf(events)));
    if (market !== null) {
      const { tokens, size, price } = market;
      const order = { tokenId: tokens[0], size, price, builder };
      const bought = await client.placeOrder({ ...order, side: 'BUY', timeInForce: 'FAK' });
      if (bought.success) return { events, market };
      reason = `the first order was refused: ${bought.errorMsg}`;
    }
    await sleep(pauseMs);
  }
  throw new Error(`${reason}, for ${findMaxMs} ms`);
}

async function readBooks(client: ExchangeClient, tokens: readonly string[]) {
  const pages: Promise<Awaited<ReturnType<ExchangeClient['books']>>>[] = [];
  for (let from = 0; from < tokens.length; from += booksPerRequest)
    pages.push(client.books(tokens.slice(from, from + booksPerRequest)));
  return (await Promise.all(pages)).flat();
}

async function writeComment(client: ExchangeClient, eventId: string): Promise<string> {
  await client.comments.setProfile({ name: 'A visitor', bio: 'Took the tour.' });
  const { id } = await client.comments.write({
    parent_entity_type: 'Event',
    parent_entity_id: eventId,
    body: 'Prices look right to me.',
  });
  return id;
}

/** Files of the console are named by their content, so the name is read from its page. */
async function findConsoleFile(baseUrl: string): Promise<string> {
  const page = await fetch(`${baseUrl}/console/`, { signal: AbortSignal.timeout(findMaxMs) });
  const [, file = ''] = /\/console\/assets\/([\w.-]+)/.exec(await page.text()) ?? [];
  return file;
}
