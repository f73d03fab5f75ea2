import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { slugText } from './catalog.ts';
import { Desk } from './desk.ts';
import { type DemoMarket, newestQuotes, requote } from './market-maker.ts';
import { Playback } from './playback.ts';
import { type RecordedQuote, recordedQuotes, recordedTrades } from './recordings.ts';
import { TradePlayer } from './takers.ts';
import { makerWallets, takerWallets } from './wallets.ts';

/** The demo as a process: recorded quotes and trades as signed orders over HTTP, until it is stopped. */
const options = new Command()
  .requiredOption('--base-url <url>', 'where the exchange is')
  .requiredOption('--markets <file>', 'markets of the demo, JSON')
  .option('--quote-speed <factor>', 'recorded quotes, 1 is real time', Number, 5)
  .option('--trade-speed <factor>', 'recorded trades, 1 is real time', Number, 20)
  .parse()
  .opts<{ baseUrl: string; markets: string; quoteSpeed: number; tradeSpeed: number }>();

/** Quotes and trades handled in one turn, and the pause between turns. */
const quotesPerTurn = 120;
const tradesPerTurn = 10;
const turnMs = 500;

const markets = new Map<string, DemoMarket>(
  (JSON.parse(readFileSync(options.markets, 'utf8')) as DemoMarket[]).map((one) => [one.slug, one]),
);
const makers = makerWallets().map((wallet) => new Desk(options.baseUrl, wallet));
const takers = takerWallets().map((wallet) => new Desk(options.baseUrl, wallet));
const tradeMaker = makers[makers.length - 1];
if (tradeMaker === undefined) throw new RangeError('the demo has makers');

for (const desk of [...makers, ...takers]) await desk.connect();

const quotes = new Playback(recordedQuotes(), options.quoteSpeed, Date.now());
const trades = new Playback(recordedTrades(), options.tradeSpeed, Date.now());
const tradePlayer = new TradePlayer(tradeMaker, takers);

let stopping = false;
process.stdin.resume();
const asked = Promise.race([
  once(process, 'SIGTERM'),
  once(process, 'SIGINT'),
  once(process.stdin, 'end'),
]).then(() => {
  stopping = true;
});

async function playQuotes(): Promise<void> {
  const due = newestQuotes(quotes.due(Date.now(), quotesPerTurn));
  await Promise.all(makers.map((desk, index) => requote(desk, sharedOut(due, index))));
}

/** The quotes of one maker: markets are shared out among all but the last, who meets the recorded trades. */
function sharedOut(due: readonly RecordedQuote[], index: number) {
  return due.flatMap((quote) => {
    const market = markets.get(quote.slug);
    const mine =
      [...quote.slug].reduce((sum, char) => sum + char.charCodeAt(0), 0) % (makers.length - 1);
    return market !== undefined && mine === index ? [{ quote, market }] : [];
  });
}

async function playTrades(): Promise<void> {
  for (const trade of trades.due(Date.now(), tradesPerTurn)) {
    const market = markets.get(slugText(trade.question));
    if (market !== undefined && !stopping) await tradePlayer.play(trade, market);
  }
}

while (!stopping) {
  await Promise.all([playQuotes(), playTrades()]);
  await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, turnMs))]);
}
const sum = (pick: (desk: Desk) => number) =>
  [...makers, ...takers].reduce((total, desk) => total + pick(desk), 0);
console.log(
  `orders ${sum((desk) => desk.counts.orders)}, refused ${sum((desk) => desk.counts.refused)}, failed requests ${sum((desk) => desk.counts.errors)}`,
);
process.exit(0);
