// A first trade with one of the public test wallets: look at a book, buy at the best ask, read the position.
// Usage: node client/examples/first-trade.mjs [BASE_URL]
import { ExchangeClient, walletFromPrivateKey } from '../dist/index.js';

const baseUrl = process.argv[2] ?? 'http://127.0.0.1:8080';
// The first public Hardhat account; its key is public.
const signer = walletFromPrivateKey(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
);
const client = new ExchangeClient({ baseUrl, signer });
await client.connect();

// A market with quotes.
const events = await client.read('/events', { limit: '100' });
const tokens = events.flatMap((event) =>
  event.markets.map((market) => JSON.parse(market.clobTokenIds)[0]),
);
let book = null;
for (const token of tokens) {
  const found = await client.book(token);
  if (found.asks.length > 0) {
    book = found;
    break;
  }
}
if (book === null) throw new Error('no market has an ask yet; try again in a moment');

const best = book.asks[book.asks.length - 1];
console.log(`best ask of token ${book.asset_id.slice(0, 12)}...: ${best.size} at ${best.price}`);

// An order that buys at once must be worth a dollar at least; this one is worth five.
const size = String(Math.ceil(5 / Number(best.price)));
const result = await client.placeOrder({
  tokenId: book.asset_id,
  side: 'BUY',
  price: best.price,
  size,
  timeInForce: 'FAK',
});
console.log('the order:', result);

await new Promise((resolve) => setTimeout(resolve, 1_500));
console.log('the positions:', await client.read('/positions', { user: signer.address }));
