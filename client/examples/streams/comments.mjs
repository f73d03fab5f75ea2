// Prints comments on an event as they are written.
// Usage: node client/examples/streams/comments.mjs EVENT [BASE_URL] [MESSAGES]
import { ExchangeClient } from '../../dist/index.js';

const [event, baseUrl = 'http://127.0.0.1:8080', messages = '10'] = process.argv.slice(2);
const client = new ExchangeClient({ baseUrl });
let left = Number(messages);
for await (const { action, comment } of client.stream.comments(event)) {
  console.log(action, comment?.name ?? '', comment?.body ?? '');
  left -= 1;
  if (left <= 0) break;
}
