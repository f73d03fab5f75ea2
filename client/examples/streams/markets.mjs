// Prints new markets, new rules and resolutions of all markets.
// Usage: node client/examples/streams/markets.mjs [BASE_URL] [MESSAGES]
import { ExchangeClient } from '../../dist/index.js';

const [baseUrl = 'http://127.0.0.1:8080', messages = '10'] = process.argv.slice(2);
const client = new ExchangeClient({ baseUrl });
let left = Number(messages);
for await (const { market, mode, payouts } of client.stream.markets()) {
  console.log(market, mode, payouts === null ? '' : `pays ${payouts.join(' and ')}`);
  left -= 1;
  if (left <= 0) break;
}
