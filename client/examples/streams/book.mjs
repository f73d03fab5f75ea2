// Prints the best levels of a book with each change of it.
// Usage: node client/examples/streams/book.mjs TOKEN [BASE_URL] [MESSAGES]
import { ExchangeClient } from '../../dist/index.js';

const [token, baseUrl = 'http://127.0.0.1:8080', messages = '10'] = process.argv.slice(2);
const client = new ExchangeClient({ baseUrl });
let left = Number(messages);
for await (const { seq, bids, asks, gap } of client.stream.book(token)) {
  const [bid, ask] = [bids.at(-1), asks.at(-1)].map((level) => level?.price ?? 'none');
  console.log(seq, 'bid', bid, 'ask', ask, gap ? '(after a gap)' : '');
  left -= 1;
  if (left <= 0) break;
}
