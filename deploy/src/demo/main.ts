import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { openOperator } from '../stack/operator.ts';
import { mentionsEvent, slugText, tagOfCategory } from './catalog.ts';
import { Crossings, openingQuotes } from './crossings.ts';
import { Ladders } from './ladders.ts';
import { type DemoMarket, newestQuotes, requote } from './market-maker.ts';
import { Playback } from './playback.ts';
import {
  fedEvent,
  type RecordedQuote,
  type RecordedTrade,
  recordedMarkets,
  recordedQuotes,
  recordedTrades,
} from './recordings.ts';
import { writeRemarks } from './remarks.ts';
import { playShortMarkets } from './short-market-loop.ts';
import { crossingOrder, TradePlayer } from './takers.ts';
import { TradingAccount } from './trading-account.ts';
import { makerWallets, takerWallets } from './wallets.ts';

/** The demo as a process: sends recorded quotes and trades as signed orders over HTTP until it is stopped. */
const options = new Command()
  .requiredOption('--base-url <url>', 'base URL of the exchange')
  .requiredOption('--markets <file>', 'markets of the demo, JSON')
  .option('--operator-url <url>', "the operator's listener; its token is in PM_OPERATOR_TOKEN")
  .option('--quote-speed <factor>', 'recorded quotes, 1 is real time', Number, 2)
  .option('--trade-speed <factor>', 'recorded trades, 1 is real time', Number, 20)
  .parse()
  .opts<{
    baseUrl: string;
    markets: string;
    operatorUrl?: string;
    quoteSpeed: number;
    tradeSpeed: number;
  }>();

/** Quotes and trades of one round, and the pause between rounds. */
const quotesPerRound = 120;
const tradesPerRound = 10;
const roundMs = 500;
/** Rounds between small trades with quotes, and between trades in the markets without a recording. */
const roundsPerCrossing = 2;
const roundsPerWord = 14;
/** Trades of each market before the recording starts: the first reader sees some. */
const openingTrades = 5;

const markets = new Map<string, DemoMarket>(
  (JSON.parse(readFileSync(options.markets, 'utf8')) as DemoMarket[]).map((one) => [one.slug, one]),
);
const makers = makerWallets().map((wallet) => new TradingAccount(options.baseUrl, wallet));
const takers = takerWallets().map((wallet) => new TradingAccount(options.baseUrl, wallet));
const [ladderMaker] = makers;
const tradeMaker = makers.at(-1);
const endingsMaker = makers.at(1);
if (ladderMaker === undefined || tradeMaker === undefined || endingsMaker === undefined)
  throw new RangeError('the demo has makers');

for (const account of [...makers, ...takers]) await account.connect();

const ladders = new Ladders(ladderMaker);
const tags = new Map(
  recordedMarkets().map(({ slug, category }) => [slug, tagOfCategory[category] ?? 'other']),
);
const crossings = new Crossings(tags, markets);
const tradePlayer = new TradePlayer(tradeMaker, takers);

let stopping = false;
process.stdin.resume();
const stopped = Promise.race([
  once(process, 'SIGTERM'),
  once(process, 'SIGINT'),
  once(process.stdin, 'end'),
]).then(() => {
  stopping = true;
});

/** Depth, trades and comments on the event with recorded trades. */
async function openEvent(): Promise<void> {
  const recorded = recordedTrades();
  for (const question of new Set(recorded.map((trade) => trade.question))) {
    const ofMarket = recorded.filter((trade) => trade.question === question);
    for (const trade of ofMarket.slice(0, openingTrades)) await playTrade(trade);
  }
}

/** One trade in each category of the recording, so that each has traders. */
async function openCategories(): Promise<void> {
  const opening = openingQuotes(recordedQuotes(), tags);
  await place(opening);
  for (let count = 0; count < opening.length; count += 1) await cross();
}

async function comment(): Promise<void> {
  for (const { slug } of [fedEvent, mentionsEvent]) {
    const event = await eventOf(slug);
    // The operator may have removed or renamed the event.
    if (event !== null) await writeRemarks(takers, { ...event, slug });
  }
}

async function eventOf(
  slug: string,
): Promise<{ readonly id: string; readonly closed: boolean } | null> {
  const response = await fetch(`${options.baseUrl}/events/slug/${slug}`);
  return response.ok ? ((await response.json()) as { id: string; closed: boolean }) : null;
}

/** A trade of a taker with a quote. */
async function cross(): Promise<void> {
  const crossing = crossings.next(takers.length);
  if (crossing !== null) await takers[crossing.taker]?.place([crossing.order]);
}

let wordSteps = 0;

/** Markets without a recording: the price of one of them moves a little, and a taker trades. */
async function moveWords(): Promise<void> {
  const step = wordSteps;
  wordSteps += 1;
  const words = mentionsEvent.markets.flatMap(({ slug }) => markets.get(slug) ?? []);
  const market = words[step % words.length];
  if (market === undefined) return;
  const ticks = 500 + ((step % words.length) - 1) * 300 + Math.round(40 * Math.sin(step / 9));
  await ladders.moveTo(market, ticks);
  const how = { isYes: step % 2 === 0, shares: 10 + ((step * 7) % 40) };
  const order = crossingOrder({ market, bid: ticks - 1, ask: ticks + 1 }, how);
  await takers[step % takers.length]?.place([order]);
}

async function playQuotes(quotes: Playback<RecordedQuote>): Promise<void> {
  await place(newestQuotes(quotes.due(performance.now(), quotesPerRound)));
}

async function place(due: readonly RecordedQuote[]): Promise<void> {
  await Promise.all(makers.map((account, index) => requote(account, quotesOf(due, index))));
  crossings.note(due);
}

/**
 * The quotes of one maker: markets are shared by all but the last maker, which is the counterparty of recorded trades.
 */
function quotesOf(due: readonly RecordedQuote[], index: number) {
  return due.flatMap((quote) => {
    const market = markets.get(quote.slug);
    const owner =
      [...quote.slug].reduce((sum, char) => sum + char.charCodeAt(0), 0) % (makers.length - 1);
    return market !== undefined && owner === index ? [{ quote, market }] : [];
  });
}

async function playTrade(trade: RecordedTrade): Promise<void> {
  const market = markets.get(slugText(trade.question));
  if (market === undefined || stopping) return;
  await ladders.follow(trade, market);
  await tradePlayer.play(trade, market);
}

async function playTrades(trades: Playback<RecordedTrade>): Promise<void> {
  for (const trade of trades.due(performance.now(), tradesPerRound)) await playTrade(trade);
}

/** Markets that end while one looks, where this process may list and resolve them. */
async function playEndings(maker: TradingAccount): Promise<void> {
  const token = process.env['PM_OPERATOR_TOKEN'] ?? '';
  if (options.operatorUrl === undefined || token === '') return;
  await playShortMarkets({
    operator: openOperator(options.operatorUrl, token),
    maker,
    takers,
    baseUrl: options.baseUrl,
    isClosed: async (slug) => (await eventOf(slug))?.closed ?? null,
    wait: async (ms) => {
      await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, ms))]);
      return !stopping;
    },
  });
}

await openEvent();
await openCategories();
for (const _ of mentionsEvent.markets) await moveWords();
await comment();
playEndings(endingsMaker).catch((error: unknown) => {
  console.error('markets that end are no longer played', error);
});
const quotes = new Playback(recordedQuotes(), options.quoteSpeed, performance.now());
const trades = new Playback(recordedTrades(), options.tradeSpeed, performance.now());
for (let round = 0; !stopping; round += 1) {
  await Promise.all([playQuotes(quotes), playTrades(trades)]);
  if (round % roundsPerCrossing === 0) await cross();
  if (round % roundsPerWord === 0) await moveWords();
  await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, roundMs))]);
}
const sum = (pick: (account: TradingAccount) => number) =>
  [...makers, ...takers].reduce((total, account) => total + pick(account), 0);
console.log(
  `orders ${sum(({ counts }) => counts.orders)}, refused ${sum(({ counts }) => counts.refused)}, failed requests ${sum(({ counts }) => counts.errors)}`,
);
process.exit(0);
