// Prints the best prices of a token with each change of them.
// Usage: node client/examples/streams/best.mjs TOKEN [BASE_URL] [MESSAGES]
import { ExchangeClient } from '../../dist/index.js';

const [token, baseUrl = 'http://127.0.0.1:8080', messages = '10'] = process.argv.slice(2);
const client = new ExchangeClient({ baseUrl });
let left = Number(messages);
for await (const { seq, bid, ask } of client.stream.best(token)) {
  console.log(seq, 'bid', bid?.price ?? 'none', 'ask', ask?.price ?? 'none');
  left -= 1;
  if (left <= 0) break;
}
