import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { slugText } from './catalog.ts';
import { Ladders } from './ladders.ts';
import { type DemoMarket, newestQuotes, requote } from './market-maker.ts';
import { Playback } from './playback.ts';
import {
  fedEvent,
  type RecordedQuote,
  type RecordedTrade,
  recordedQuotes,
  recordedTrades,
} from './recordings.ts';
import { writeRemarks } from './remarks.ts';
import { TradePlayer } from './takers.ts';
import { TradingAccount } from './trading-account.ts';
import { makerWallets, takerWallets } from './wallets.ts';

/** The demo as a process: sends recorded quotes and trades as signed orders over HTTP until it is stopped. */
const options = new Command()
  .requiredOption('--base-url <url>', 'base URL of the exchange')
  .requiredOption('--markets <file>', 'markets of the demo, JSON')
  .option('--quote-speed <factor>', 'recorded quotes, 1 is real time', Number, 5)
  .option('--trade-speed <factor>', 'recorded trades, 1 is real time', Number, 20)
  .parse()
  .opts<{ baseUrl: string; markets: string; quoteSpeed: number; tradeSpeed: number }>();

/** Quotes and trades of one round, and the pause between rounds. */
const quotesPerRound = 120;
const tradesPerRound = 10;
const roundMs = 500;
/** Trades of each market before the recording starts: the first reader sees some. */
const openingTrades = 5;

const markets = new Map<string, DemoMarket>(
  (JSON.parse(readFileSync(options.markets, 'utf8')) as DemoMarket[]).map((one) => [one.slug, one]),
);
const makers = makerWallets().map((wallet) => new TradingAccount(options.baseUrl, wallet));
const takers = takerWallets().map((wallet) => new TradingAccount(options.baseUrl, wallet));
const [ladderMaker] = makers;
const tradeMaker = makers.at(-1);
if (ladderMaker === undefined || tradeMaker === undefined)
  throw new RangeError('the demo has makers');

for (const account of [...makers, ...takers]) await account.connect();

const ladders = new Ladders(ladderMaker);
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
  const response = await fetch(`${options.baseUrl}/events/slug/${fedEvent.slug}`);
  // The operator may have removed or renamed the event.
  if (!response.ok) return;
  const { id } = (await response.json()) as { readonly id: string };
  await writeRemarks(takers, id);
}

async function playQuotes(quotes: Playback<RecordedQuote>): Promise<void> {
  const due = newestQuotes(quotes.due(Date.now(), quotesPerRound));
  await Promise.all(makers.map((account, index) => requote(account, quotesOf(due, index))));
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
  for (const trade of trades.due(Date.now(), tradesPerRound)) await playTrade(trade);
}

await openEvent();
const quotes = new Playback(recordedQuotes(), options.quoteSpeed, Date.now());
const trades = new Playback(recordedTrades(), options.tradeSpeed, Date.now());
while (!stopping) {
  await Promise.all([playQuotes(quotes), playTrades(trades)]);
  await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, roundMs))]);
}
const sum = (pick: (account: TradingAccount) => number) =>
  [...makers, ...takers].reduce((total, account) => total + pick(account), 0);
console.log(
  `orders ${sum(({ counts }) => counts.orders)}, refused ${sum(({ counts }) => counts.refused)}, failed requests ${sum(({ counts }) => counts.errors)}`,
);
process.exit(0);
