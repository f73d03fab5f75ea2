// Prints a curl line that places a signed order, ready to paste: what a client does, made visible.
// Usage: node client/examples/signed-curl.mjs TOKEN_ID [PRICE] [SIZE] [BASE_URL]
import { ExchangeClient, walletFromPrivateKey } from '../dist/index.js';

const [tokenId, price = '0.50', size = '10', baseUrl = 'http://127.0.0.1:8080'] =
  process.argv.slice(2);
if (tokenId === undefined) {
  console.error('usage: node client/examples/signed-curl.mjs TOKEN_ID [PRICE] [SIZE] [BASE_URL]');
  process.exit(2);
}
// The first public Hardhat account; everybody knows this key.
const signer = walletFromPrivateKey(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
);
const client = new ExchangeClient({ baseUrl, signer });
await client.connect();
const { submission } = await client.prepareOrder({ tokenId, side: 'BUY', price, size });
const { url, method, headers, body } = client.signRequest({
  method: 'POST',
  path: '/order',
  body: submission,
});
const lines = Object.entries(headers).map(([name, value]) => `  -H '${name}: ${value}'`);
console.log([`curl -X ${method} '${url}'`, ...lines, `  -d '${body}'`].join(' \\\n'));
