// Prints a curl line of a signed request, ready to paste: what a client does, made visible.
// Usage: node client/examples/signed-curl.mjs TOKEN_ID [PRICE] [SIZE] [BASE_URL]   a signed order to buy
//        node client/examples/signed-curl.mjs METHOD PATH [BODY] [BASE_URL]        any other private request
import { ExchangeClient, walletFromPrivateKey } from '../dist/index.js';

const [first, ...rest] = process.argv.slice(2);
if (first === undefined) {
  console.error('usage: node client/examples/signed-curl.mjs TOKEN_ID [PRICE] [SIZE] [BASE_URL]');
  console.error('       node client/examples/signed-curl.mjs METHOD PATH [BODY] [BASE_URL]');
  process.exit(2);
}
const isOrder = /^\d+$/.test(first);
const baseUrl = rest[2] ?? 'http://127.0.0.1:8080';
// The first public Hardhat account; its key is public.
const signer = walletFromPrivateKey(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
);
const client = new ExchangeClient({ baseUrl, signer });
await client.connect();
const { url, method, headers, body } = client.signRequest(isOrder ? await order() : request());
const lines = Object.entries(headers).map(([name, value]) => `  -H '${name}: ${value}'`);
const data = body === '' ? [] : [`  -d '${body}'`];
console.log([`curl -X ${method} '${url}'`, ...lines, ...data].join(' \\\n'));

async function order() {
  const [price = '0.50', size = '10'] = rest;
  const { submission } = await client.prepareOrder({ tokenId: first, side: 'BUY', price, size });
  return { method: 'POST', path: '/order', body: submission };
}

function request() {
  const [path = '/', text = ''] = rest;
  return { method: first, path, ...(text === '' ? {} : { body: JSON.parse(text) }) };
}
