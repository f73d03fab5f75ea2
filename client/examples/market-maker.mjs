// A small market maker with one of the public test wallets: quotes both sides of a market around its midpoint for a
// while, under heartbeats, so that its orders go when it dies, and takes everything off at the end. Usage: node
// client/examples/market-maker.mjs [BASE_URL] [SECONDS]
import { setTimeout as sleep } from 'node:timers/promises';
import { ExchangeClient, walletFromPrivateKey } from '../dist/index.js';

const baseUrl = process.argv[2] ?? 'http://127.0.0.1:8080';
const seconds = Number(process.argv[3] ?? 15);
// The second public Hardhat account; its key is public.
const signer = walletFromPrivateKey(
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
);
const client = new ExchangeClient({ baseUrl, signer });
await client.connect();

const market = await quotedMarket();
console.log(`making the market "${market.question}"`);

const heartbeat = client.startHeartbeat({
  onMiss: () => console.log('the session was missed: all orders are canceled, quoting again'),
  onError: (error) => console.log(`a beat failed: ${error.message}`),
});
await heartbeat.started();

const endsAt = performance.now() + seconds * 1_000;
try {
  while (performance.now() < endsAt) {
    await quote();
    await sleep(3_000);
  }
} finally {
  const { canceled } = await client.cancelAll();
  await heartbeat.stop();
  console.log(`canceled ${canceled.length} orders after ${heartbeat.beats} beats`);
}
for await (const trade of client.own.trades({ market: market.conditionId })) {
  console.log(`${trade.side} ${trade.size} at ${trade.price}`);
}

/** Replaces both quotes: bids 2 cents below the midpoint on either token, which is a bid and an offer of the first. */
async function quote() {
  await client.cancelMarketOrders({ market: market.conditionId });
  const middle = Math.round(Number(await client.midpoint(market.tokens[0])) * 100);
  const intents = [middle - 2, 100 - middle - 2].flatMap((cents, outcome) =>
    cents < 1
      ? []
      : [
          {
            tokenId: market.tokens[outcome],
            side: 'BUY',
            price: (cents / 100).toFixed(2),
            size: '20',
            postOnly: true,
          },
        ],
  );
  const results = await client.placeOrders(intents);
  const words = results.map((result) => (result.success ? result.status : result.code));
  console.log(`around ${middle} cents: ${words.join(', ')}`);
}

/** The first market with both sides, which has a midpoint. */
async function quotedMarket() {
  const events = await client.read('/events', { limit: '100' });
  const markets = events.flatMap((event) =>
    event.markets.map(({ clobTokenIds, conditionId, question }) => ({
      conditionId,
      question,
      tokens: JSON.parse(clobTokenIds),
    })),
  );
  const books = await client.books(markets.map(({ tokens }) => tokens[0]));
  const quoted = new Set(
    books
      .filter(({ bids, asks }) => bids.length > 0 && asks.length > 0)
      .map(({ asset_id }) => asset_id),
  );
  const found = markets.find(({ tokens }) => quoted.has(tokens[0]));
  if (found === undefined) throw new Error('no market has quotes yet; try again in a moment');
  return found;
}
