export { type OrderStruct, orderDigest, orderStructHash } from './eip712.ts';
export { ExchangeError, UnresolvedOrdersError } from './errors.ts';
export { ExchangeClient, type ExchangeClientOptions } from './exchange-client.ts';
export { Heartbeat, type HeartbeatOptions } from './heartbeat.ts';
export { type KeyOfWallet, signedHeaders } from './http.ts';
export { type BuiltOrder, buildOrder, type OrderIntent, type SigningContext } from './order.ts';
export type { Placement, PlacementOptions } from './placement.ts';
export { noRetries, type RetryPolicy } from './retry.ts';
export { type Signer, walletFromPrivateKey } from './wallet.ts';
