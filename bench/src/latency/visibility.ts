import { setTimeout as sleep } from 'node:timers/promises';
import type { Trader, WorldMarket } from '../world/world.ts';
import { outcomeOf } from './load.ts';
import type { Poster } from './poster.ts';

/** From the post of an order to public reads, milliseconds. */
export interface Visibility {
  /** The resting order is in GET /book (query-api, Redis). */
  readonly bookMs: number[];
  /** The fill of the taker is in GET /data/trades (query-api, ClickHouse). */
  readonly tradeMs: number[];
  /** Samples that never became visible, or whose orders were refused, by reason. */
  readonly failed: string[];
}

const pollMs = 10;
const giveUpMs = 10_000;

/** Places pairs in a market of their own, one after the other, until `isOver`, and watches for them. */
export async function watchVisibility(
  parts: {
    readonly poster: Poster;
    readonly market: WorldMarket;
    readonly maker: Trader;
    readonly taker: Trader;
  },
  isOver: () => boolean,
): Promise<Visibility> {
  const { poster, market, maker, taker } = parts;
  const found: Visibility = { bookMs: [], tradeMs: [], failed: [] };
  const [token, other] = market.tokens;
  while (!isOver()) {
    const resting = maker.sign({ tokenId: token, side: 'BUY', price: '0.5', size: '5' });
    const meeting = taker.sign({ tokenId: other, side: 'BUY', price: '0.5', size: '5' });
    const inBook = await postAndWatch(parts, { trader: maker, body: resting.body }, async () => {
      const { body } = await poster.get(maker.key, '/book', `?token_id=${token}`);
      return (JSON.parse(body) as { bids?: unknown[] }).bids?.length === 1;
    });
    if (typeof inBook === 'string') {
      found.failed.push(`book: ${inBook}`);
      await sleep(500);
      continue;
    }
    const inTrades = await postAndWatch(parts, { trader: taker, body: meeting.body }, async () => {
      const query = `?market=${market.conditionId}`;
      const { body } = await poster.get(taker.key, '/data/trades', query);
      return body.includes(meeting.orderId);
    });
    if (typeof inTrades === 'string') found.failed.push(`trade: ${inTrades}`);
    else found.tradeMs.push(inTrades);
    found.bookMs.push(inBook);
    await sleep(100);
  }
  return found;
}

/** Milliseconds from the post until `isVisible`; the reason when that never came. */
async function postAndWatch(
  { poster }: { readonly poster: Poster },
  order: { readonly trader: Trader; readonly body: string },
  isVisible: () => Promise<boolean>,
): Promise<number | string> {
  const started = performance.now();
  const answered = poster.post(order.trader.key, order.body);
  let refusal: string | null = null;
  void answered.then((answer) => {
    const outcome = outcomeOf(answer);
    if (!['live', 'matched', 'delayed'].includes(outcome)) refusal = outcome;
  });
  while (performance.now() - started < giveUpMs) {
    if (await isVisible()) return performance.now() - started;
    if (refusal !== null) return refusal;
    await sleep(pollMs);
  }
  return 'not visible in time';
}
