import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderIntent } from '@pm/client';
import type { OrderSubmission } from '@pm/schemas/http/trading';
import type { Trader, World } from '../world/world.ts';

const levelsPerSide = 45;
const perRequest = 15;
const visibleMs = 15_000;
const lookEveryMs = 100;

/** Places bids and asks (as BUYs of the other token) on many levels; resolves with the token once all are readable. */
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
    const intents = Array.from({ length: levelsPerSide }, (_, level) =>
      bid(tokenId, `0.${String(level + 2).padStart(2, '0')}`),
    );
    await place(trader, intents);
  }
  await until(async () => {
    const { bids, asks } = await buyer.client.book(token);
    return bids.length === levelsPerSide && asks.length === levelsPerSide;
  });
  return token;
}

/**
 * Has every token of all markets but the first two traded once, and places a bid and an ask on it; resolves with the
 * tokens once all are readable.
 */
export async function fillQuotes({ markets, traders, stack }: World): Promise<readonly string[]> {
  const [buyer, seller] = traders;
  if (buyer === undefined || seller === undefined) throw new RangeError('quotes need two traders');
  const quoted = markets.slice(2);
  const even = '0.5';
  await place(
    buyer,
    quoted.map(({ tokens }) => bid(tokens[0], even)),
  );
  await place(
    seller,
    quoted.map(({ tokens }) => bid(tokens[1], even)),
  );
  const price = '0.4';
  await place(
    buyer,
    quoted.map(({ tokens }) => bid(tokens[0], price)),
  );
  await place(
    seller,
    quoted.map(({ tokens }) => bid(tokens[1], price)),
  );
  const tokens = quoted.flatMap((market) => market.tokens);
  const body = JSON.stringify(tokens.map((token) => ({ token_id: token })));
  await until(async () => {
    const answer = await fetch(`${stack.baseUrl}/midpoints`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return Object.keys((await answer.json()) as object).length === tokens.length;
  });
  return tokens;
}

/**
 * Has all traders but the first two hold a token of the second market; resolves with the market once GET /holders has
 * them.
 */
export async function fillHolders({ markets, traders, stack }: World): Promise<string> {
  const [, market] = markets;
  const [, seller, ...holders] = traders;
  if (market === undefined || seller === undefined) throw new RangeError('holders need a market');
  const [token, other] = market.tokens;
  for (const holder of holders) {
    await place(holder, [bid(token, '0.5')]);
    await place(seller, [bid(other, '0.5')]);
  }
  await until(async () => {
    const answer = await fetch(`${stack.baseUrl}/holders?market=${market.conditionId}&limit=500`);
    const [first] = (await answer.json()) as readonly { readonly holders: readonly object[] }[];
    return first?.holders.length === holders.length;
  });
  return market.conditionId;
}

const bid = (tokenId: string, price: string): OrderIntent => ({
  tokenId,
  price,
  side: 'BUY',
  size: '10',
});

async function place(trader: Trader, intents: readonly OrderIntent[]): Promise<void> {
  const orders = intents.map((intent) => {
    const { orderId, body } = trader.sign(intent);
    return { orderId, submission: JSON.parse(body) as OrderSubmission };
  });
  for (let from = 0; from < orders.length; from += perRequest) {
    const results = await trader.client.postOrders(orders.slice(from, from + perRequest));
    const refused = results.find((result) => !result.success);
    if (refused !== undefined) throw new Error(`a bench order was refused: ${refused.errorMsg}`);
  }
}

async function until(isVisible: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + visibleMs;
  while (!(await isVisible())) {
    if (performance.now() > deadline) throw new Error('what was placed is not visible');
    await sleep(lookEveryMs);
  }
}
