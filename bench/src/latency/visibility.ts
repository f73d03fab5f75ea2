import { setTimeout as sleep } from 'node:timers/promises';
import { pace } from '../load/pace.ts';
import type { Trader, WorldMarket } from '../world/world.ts';
import { outcomeOf } from './load.ts';
import type { Poster } from './poster.ts';
import { WatchedList } from './watched-list.ts';

/** Reads that show others the effects of a pair of orders that meet. */
const reads = {
  book: 'order in GET /book',
  taken: 'fill gone from GET /book',
  trades: 'fill in GET /trades',
  lastPrice: 'fill in GET /last-trade-price',
  ownTrades: 'fill in GET /data/trades of the taker',
} as const;
type Read = keyof typeof reads;

/** From the planned moment of an order to public reads, milliseconds. */
export interface Visibility {
  /** By read, in words. */
  readonly seenMs: ReadonlyMap<string, readonly number[]>;
  /** Samples that never became visible, or whose orders were refused, by reason. */
  readonly failed: readonly string[];
}

/** The pairs of a run: each in the next of these markets, which no one else trades in. */
export interface VisibilityParts {
  readonly poster: Poster;
  readonly markets: readonly WorldMarket[];
  readonly maker: Trader;
  readonly taker: Trader;
  readonly seconds: number;
}

/** Markets for pairs: with `pairsPerSecond` each is used again after eight seconds. */
export const pairMarkets = 16;
const pairsPerSecond = 2;
/** The taking order is planned so long after the one that rests. */
const restMs = 1_000;
const pollMs = 10;
const giveUpMs = 5_000;
/** A pair is over so long after its first planned moment. */
export const pairMaxSeconds = (restMs + giveUpMs) / 1_000;

interface Pair {
  readonly market: WorldMarket;
  readonly resting: ReturnType<Trader['sign']>;
  readonly meeting: ReturnType<Trader['sign']>;
  /** Differs from those of all other pairs. */
  readonly size: number;
  /** Price of the token of the taker; differs from that of the pair before in this market. */
  readonly price: number;
}

/** Places pairs at planned moments, whether or not earlier ones were seen, and polls for each. */
export async function watchVisibility(parts: VisibilityParts): Promise<Visibility> {
  const count = parts.seconds * pairsPerSecond;
  const pairs = Array.from({ length: count }, (_, index) => signPair(parts, index));
  const seenMs = new Map<string, number[]>(Object.values(reads).map((name) => [name, []]));
  const failed: string[] = [];
  const watching: Promise<void>[] = [];
  const lists = openLists(parts);
  const note = (read: Read, seen: number | string) => {
    if (typeof seen === 'string') failed.push(`${reads[read]}: ${seen}`);
    else seenMs.get(reads[read])?.push(seen);
  };
  const moments = pairs.flatMap((_, index) => {
    const atMs = (index * 1_000) / pairsPerSecond;
    return [
      { pair: index, isTaker: false, atMs },
      { pair: index, isTaker: true, atMs: atMs + restMs },
    ];
  });
  moments.sort((a, b) => a.atMs - b.atMs);
  await pace(
    moments.map(({ atMs }) => atMs),
    (index, plannedAt) => {
      const moment = moments[index];
      const pair = pairs[moment?.pair ?? 0];
      if (moment === undefined || pair === undefined) return;
      const watch = moment.isTaker ? watchTaker : watchMaker;
      watching.push(watch(parts, pair, { plannedAt, note, lists }));
    },
  );
  await Promise.all(watching);
  return { seenMs, failed };
}

function signPair({ markets, maker, taker }: VisibilityParts, index: number): Pair {
  const market = markets[index % markets.length];
  if (market === undefined) throw new RangeError('pairs need markets');
  const [token, other] = market.tokens;
  const size = (500 + index) / 100;
  // Two prices in turn in each market.
  const cents = 40 + (Math.floor(index / markets.length) % 2);
  const order = { side: 'BUY', size: size.toFixed(2) } as const;
  return {
    market,
    size,
    price: (100 - cents) / 100,
    resting: maker.sign({ ...order, tokenId: token, price: `0.${cents}` }),
    meeting: taker.sign({ ...order, tokenId: other, price: `0.${100 - cents}` }),
  };
}

/** The lists of trades, which are read for all pairs at once. */
interface Lists {
  readonly trades: WatchedList<readonly { readonly size: number }[]>;
  readonly ownTrades: WatchedList<string>;
}

function openLists({ poster, markets, taker }: VisibilityParts): Lists {
  const ids = markets.map(({ conditionId }) => conditionId).join(',');
  const trades = () =>
    read<readonly { readonly size: number }[]>(poster, `/trades?market=${ids}&limit=100`);
  const ownTrades = async () => (await poster.get(taker.key, '/data/trades', '')).body;
  return {
    trades: new WatchedList(trades, pollMs),
    ownTrades: new WatchedList(ownTrades, pollMs),
  };
}

interface Watch {
  readonly plannedAt: number;
  readonly lists: Lists;
  note(read: Read, seen: number | string): void;
}

async function watchMaker(
  { poster, maker }: VisibilityParts,
  { market, resting }: Pair,
  { plannedAt, note }: Watch,
): Promise<void> {
  const refused = refusalOf(poster, maker, resting.body, ['live']);
  const isThere = async () => (await bidsOf(poster, market)) === 1;
  note('book', await until(isThere, plannedAt, refused));
}

async function watchTaker(
  { poster, taker }: VisibilityParts,
  { market, meeting, size, price }: Pair,
  { plannedAt, note, lists }: Watch,
): Promise<void> {
  const refused = refusalOf(poster, taker, meeting.body, ['matched', 'delayed']);
  const polled = async (name: Read, isSeen: () => Promise<boolean>) =>
    note(name, await until(isSeen, plannedAt, refused));
  const untilMs = plannedAt + giveUpMs;
  const listed = async <T>(name: Read, list: WatchedList<T>, isSeen: (rows: T) => boolean) => {
    let wasSeen = false;
    // A refused order is not waited for.
    await list.waitFor((rows) => {
      wasSeen = isSeen(rows);
      return wasSeen || refused() !== null;
    }, untilMs);
    note(name, wasSeen ? performance.now() - plannedAt : (refused() ?? notSeen));
  };
  const lastPrice = `/last-trade-price?token_id=${market.tokens[1]}`;
  await Promise.all([
    polled('taken', async () => (await bidsOf(poster, market)) === 0),
    polled('lastPrice', async () => {
      return Number((await read<{ price: string }>(poster, lastPrice))?.price) === price;
    }),
    listed('trades', lists.trades, (rows) => rows.some((row) => row.size === size)),
    listed('ownTrades', lists.ownTrades, (body) => body.includes(meeting.orderId)),
  ]);
}

const notSeen = 'not visible in time';

/** Posts the order; says the outcome once it is none of those wanted. */
function refusalOf(
  poster: Poster,
  trader: Trader,
  body: string,
  wanted: readonly string[],
): () => string | null {
  let refusal: string | null = null;
  void poster.post(trader.key, body).then((answer) => {
    const outcome = outcomeOf(answer);
    if (!wanted.includes(outcome)) refusal = outcome;
  });
  return () => refusal;
}

async function bidsOf(poster: Poster, { tokens }: WorldMarket): Promise<number | undefined> {
  return (await read<{ bids?: unknown[] }>(poster, `/book?token_id=${tokens[0]}`))?.bids?.length;
}

async function read<T>(poster: Poster, path: string): Promise<T | null> {
  const { status, body } = await poster.read(path);
  return status === 200 ? (JSON.parse(body) as T) : null;
}

/** Milliseconds from the planned moment until `isSeen`; the reason when that never came. */
async function until(
  isSeen: () => Promise<boolean>,
  plannedAt: number,
  refused: () => string | null,
): Promise<number | string> {
  while (performance.now() - plannedAt < giveUpMs) {
    if (await isSeen()) return performance.now() - plannedAt;
    const refusal = refused();
    if (refusal !== null) return refusal;
    await sleep(pollMs);
  }
  return notSeen;
}
