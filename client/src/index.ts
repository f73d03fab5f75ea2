export { type OrderStruct, orderDigest, orderStructHash } from './eip712.ts';
export { ExchangeClient, type ExchangeClientOptions, type OrderBook } from './exchange-client.ts';
export { ExchangeError, signedHeaders } from './http.ts';
export { type BuiltOrder, buildOrder, type OrderIntent, type SigningContext } from './order.ts';
export { type Signer, walletFromPrivateKey } from './wallet.ts';
