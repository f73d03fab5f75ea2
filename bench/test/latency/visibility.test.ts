import type { Answer, Poster } from '../../src/latency/poster.ts';
import { watchVisibility } from '../../src/latency/visibility.ts';
import { visibilityRows } from '../../src/latency/visibility-rows.ts';
import type { Trader, WorldMarket } from '../../src/world/world.ts';

interface Placed {
  readonly tokenId: string;
  readonly size: string;
  readonly price: string;
}

/** An exchange that shows orders at once, and fills so much later. */
class FakeExchange {
  readonly #fillsAfterMs: number;
  readonly #resting = new Map<string, Placed>();
  readonly #trades: { order: Placed; atMs: number }[] = [];

  constructor(fillsAfterMs: number) {
    this.#fillsAfterMs = fillsAfterMs;
  }

  readonly poster = {
    post: async (_key: unknown, body: string): Promise<Answer> => {
      const order = JSON.parse(body) as Placed;
      const other = order.tokenId.replace('no', 'yes');
      const meets = order.tokenId.startsWith('no') && this.#resting.delete(other);
      if (meets) this.#trades.push({ order, atMs: performance.now() });
      else this.#resting.set(order.tokenId, order);
      return good({ success: true, status: meets ? 'matched' : 'live' });
    },
    read: async (path: string): Promise<Answer> => {
      const url = new URL(path, 'http://exchange');
      const token = url.searchParams.get('token_id') ?? '';
      if (url.pathname === '/book') return good({ bids: this.#resting.has(token) ? [token] : [] });
      if (url.pathname === '/trades')
        return good(this.#seen().map(({ size }) => ({ size: Number(size) })));
      return good({
        price: this.#seen().findLast(({ tokenId }) => tokenId === token)?.price ?? '0',
      });
    },
    get: async (): Promise<Answer> => good(this.#seen().map((order) => JSON.stringify(order))),
  } as unknown as Poster;

  #seen(): readonly Placed[] {
    const until = performance.now() - this.#fillsAfterMs;
    return this.#trades.filter(({ atMs }) => atMs <= until).map(({ order }) => order);
  }
}

const good = (body: unknown): Answer => ({ status: 200, body: JSON.stringify(body) });
const trader = {
  key: {},
  sign: (order: Placed) => ({ orderId: `size\\":\\"${order.size}`, body: JSON.stringify(order) }),
} as unknown as Trader;
const markets: WorldMarket[] = [1, 2, 3, 4].map((one) => ({
  conditionId: `condition ${one}`,
  tokens: [`yes ${one}`, `no ${one}`],
}));

describe('what others can read', () => {
  // Both mostly wait, so they run at the same time.
  it.concurrent('is seen from the planned moment of each order, each read by itself', async () => {
    const { poster } = new FakeExchange(150);
    const parts = { poster, markets, maker: trader, taker: trader, seconds: 1 };
    const { seenMs, failed } = await watchVisibility(parts);
    expect(failed).toEqual([]);
    const counts = [...seenMs.values()].map((ms) => ms.length);
    expect(counts).toEqual([2, 2, 2, 2, 2]);
    const fills = [...seenMs].filter(([what]) => /^fill in/.test(what)).flatMap(([, ms]) => ms);
    expect(Math.min(...fills)).toBeGreaterThanOrEqual(150);
  });

  it.concurrent('is said to have failed where an order was refused', async () => {
    const { poster } = new FakeExchange(0);
    const refusing = { ...poster, post: async () => good({ success: false, code: 'closed' }) };
    const parts = { poster: refusing as unknown as Poster, markets, maker: trader, taker: trader };
    const seen = await watchVisibility({ ...parts, seconds: 1 });
    expect(new Set(seen.failed)).toContain('order in GET /book: closed');
    expect(visibilityRows(seen)).toContainEqual([
      'failed: order in GET /book: closed',
      '2',
      '',
      '',
      '',
      '',
    ]);
  });
});
