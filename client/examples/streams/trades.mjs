// Prints the fills of a market.
// Usage: node client/examples/streams/trades.mjs CONDITION [BASE_URL] [MESSAGES]
import { ExchangeClient } from '../../dist/index.js';

const [condition, baseUrl = 'http://127.0.0.1:8080', messages = '10'] = process.argv.slice(2);
const client = new ExchangeClient({ baseUrl });
let left = Number(messages);
for await (const { side, size, price, time } of client.stream.trades(condition)) {
  console.log(new Date(time).toISOString(), side, size, 'at', price);
  left -= 1;
  if (left <= 0) break;
}
