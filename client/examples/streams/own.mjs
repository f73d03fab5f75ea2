// Prints own orders, fills, balances and positions; each comes once.
// Usage: node client/examples/streams/own.mjs [BASE_URL] [MESSAGES]
import { ExchangeClient, walletFromPrivateKey } from '../../dist/index.js';

const [baseUrl = 'http://127.0.0.1:8080', messages = '10'] = process.argv.slice(2);
// The first public Hardhat account; its key is public.
const signer = walletFromPrivateKey(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
);
const client = new ExchangeClient({ baseUrl, signer });
await client.connect();
let left = Number(messages);
for await (const message of client.own.events()) {
  console.log(message.type, message.kind ?? '', message.at?.partition ?? '', message.seq ?? '');
  left -= 1;
  if (left <= 0) break;
}
