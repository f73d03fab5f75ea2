export type { CancelAllResult, MarketFilter } from './cancels.ts';
export type { Attempt, AttemptResponse } from './connection.ts';
export { type OrderStruct, orderDigest, orderStructHash } from './eip712.ts';
export {
  ExchangeError,
  SigningDomainError,
  UnresolvedActionError,
  UnresolvedOrdersError,
} from './errors.ts';
export {
  ExchangeClient,
  type ExchangeClientOptions,
} from './exchange-client.ts';
export { Heartbeat, type HeartbeatOptions } from './heartbeat.ts';
export { type KeyOfWallet, signedHeaders } from './http.ts';
export {
  type BuiltOrder,
  buildOrder,
  type OrderDraft,
  type OrderIntent,
  type SigningContext,
} from './order.ts';
export type { PlacementOptions } from './placement.ts';
export type { Placement } from './placement-result.ts';
export { noRetries, type RetryPolicy } from './retry.ts';
export type { MountedResponseOf, ReadInput, ReadName } from './route-reads.ts';
export { authFrame } from './streams/auth-frame.ts';
export type { BookEvent } from './streams/book.ts';
export { StreamGapError, StreamRefusedError } from './streams/errors.ts';
export type {
  ActivityMessage,
  BestMessage,
  CommentMessage,
  MarketsMessage,
  OrdersMessage,
  OwnEvent,
  TradeMessage,
} from './streams/frames.ts';
export type { FreshnessEvent } from './streams/freshness.ts';
export type { Messages, OwnEventsOptions, StreamApi, StreamOptions } from './streams/stream-api.ts';
export type { TypedData, TypedDataSigner } from './typed-data.ts';
export { type Signer, walletFromPrivateKey } from './wallet.ts';
