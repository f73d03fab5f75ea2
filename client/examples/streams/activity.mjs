// Prints who trades, splits, merges and redeems in a market.
// Usage: node client/examples/streams/activity.mjs CONDITION [BASE_URL] [MESSAGES]
import { ExchangeClient } from '../../dist/index.js';

const [condition, baseUrl = 'http://127.0.0.1:8080', messages = '10'] = process.argv.slice(2);
const client = new ExchangeClient({ baseUrl });
let left = Number(messages);
for await (const { activity } of client.stream.activity(condition)) {
  console.log(activity.type, activity.proxyWallet, activity.size);
  left -= 1;
  if (left <= 0) break;
}
