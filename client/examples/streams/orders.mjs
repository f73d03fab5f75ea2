// Counts the resting orders of a market by their prices.
// Usage: node client/examples/streams/orders.mjs CONDITION [BASE_URL] [MESSAGES]
import { ExchangeClient } from '../../dist/index.js';

const [condition, baseUrl = 'http://127.0.0.1:8080', messages = '10'] = process.argv.slice(2);
const client = new ExchangeClient({ baseUrl });
let left = Number(messages);
const resting = new Map();
for await (const message of client.stream.orders(condition)) {
  if (message.type === 'snapshot') {
    resting.clear();
    for (const one of message.orders) resting.set(one.order, one);
  } else if (message.action === 'remove') resting.delete(message.order);
  else resting.set(message.order, message);
  console.log(message.seq, `${resting.size} orders rest`);
  left -= 1;
  if (left <= 0) break;
}
