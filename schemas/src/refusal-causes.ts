import type { RefusalCode } from './refusals.ts';

/** Cause of each refusal, and its remedy where there is one: the text of errors.md (`npm run docs`). */
export const refusalCauses: Readonly<Record<RefusalCode, string>> = {
  unknown: 'A code that this version does not know; the sender is newer.',
  invalid_payload: 'The body is not JSON or not of the documented shape.',
  too_many_orders: 'More items in POST /orders than it takes.',
  invalid_l1:
    'The signature of the wallet, its domain (`GET /signing-domain`), its time or its nonce does not prove the address.',
  invalid_l2:
    'One of the five headers is missing, wrong or too old, or the key is unknown, revoked or of another wallet.',
  owner_mismatch: '`owner` of the item is not the API key of the request.',
  signer_mismatch:
    'The signer is not the wallet of the API key, or the maker is not its own: not that address, not derived from it, not bound to it by the operator (docs/trading/conventions.md 3.3).',
  invalid_signature:
    'The signature is not one of this order for an accepted domain: the signer, a field or the domain of `GET /signing-domain` differs. `POST /orders/validate` shows who signed what.',
  market_not_found: 'No listed market has this token.',
  condition_mismatch: '`conditionId` is not the condition of the token.',
  condition_paused: 'The market is halted. It comes back by the operator.',
  market_not_ready:
    'The operator has closed or archived the market or not activated it; or its partition does not know it yet.',
  market_resolved: 'The market has ended.',
  invalid_tick_size: 'The price is not a multiple of the tick of the market, or outside of it.',
  invalid_size: 'The size is below the minimum of the market.',
  invalid_amounts: 'The size is no whole number of lots, or too large.',
  duplicate: 'The same order is in one batch twice.',
  insufficient_balance_or_allowance:
    'Free USDC (BUY) or unlocked tokens (SELL) do not cover the order. Deposit or cancel.',
  invalid_expiration:
    'GTD too close, in the past or beyond ten years (`expiration` is in seconds), or an expiration on another kind of order.',
  stale_order:
    'The order was signed more than an hour ago, and does not rest. It may have been traded before: ask `GET /data/order/{id}`, then sign a new one.',
  order_version_mismatch: 'An order of version 1. Read /version and sign for it.',
  invalid_order_type: '`orderType` is not GTC, GTD, FOK or FAK.',
  post_only_would_cross: 'A post-only order would trade at once, also with the complement.',
  invalid_post_only_order_type: 'Post-only on FOK or FAK.',
  fok_not_filled: 'The book cannot fill the whole order at its limit.',
  fak_not_filled: 'Nothing rests at the limit of the order.',
  self_trade:
    'The first order it would meet is of the same owner, in any of its wallets, and the setting of its key ends the incoming order.',
  fill_limit: 'A FOK order would meet more resting orders than one order may.',
  too_many_open_orders:
    'The wallet has as many resting orders in the partition as it may. Cancel some.',
  too_late:
    'The order came to the book later after its acceptance than it or the exchange allows. Nothing was traded; sign a new one.',
  old_generation: 'The money was reserved before the ledger was rebuilt. Send it again.',
  post_only_mode: 'The exchange or the market takes only post-only orders for now.',
  cancel_only: 'The exchange or the market takes only cancels for now.',
  trading_disabled: 'No new orders for now; cancels are taken.',
  ledger_not_ready: 'The collateral ledger is being rebuilt from the log.',
  partition_not_ready: 'The market’s partition has no owner at the moment.',
  overloaded:
    'Too much is in flight, or the market’s partition has no room for another id; nothing was booked.',
  internal_error:
    'The outcome is not known. Send the same signed order again: it is the same order.',
  invalid_order_id: 'An order id is 0x and 64 hex digits.',
  order_not_found:
    'No order of the caller with this id rests: it was canceled or refused, or is of another signer.',
  already_matched: 'The order was filled before the cancel.',
  no_cancel_filter: 'A cancel of a market names neither market nor token.',
  rate_limited: 'A limit is used up (docs/trading/limits.md).',
  too_many_cancels: 'More ids in DELETE /orders than it takes.',
  fenced:
    'A cancel that came after this order overtook it: of everything, of its market, or of its id.',
  order_delayed:
    'The order waits for the end of the market’s taker delay, or is a FOK or FAK that is held for the next tick.',
  system_paused: 'The operator has paused the exchange.',
  timestamp_skew:
    'The clock of the sender is off by more than is allowed; the server’s time is in the answer.',
  user_banned: 'The operator has banned the wallet.',
  closed_only: 'The wallet may only close positions.',
  read_only_key: 'The key may read and nothing else.',
  api_key_not_created: 'The key could not be made durable.',
  api_key_not_found: 'No such key of this wallet.',
  too_many_api_keys: 'The wallet has as many keys as it may.',
  unauthorized_agent: 'The agent key is missing, unknown, paused or deleted.',
  agent_not_found: 'No such agent of this wallet.',
  too_many_agents: 'The wallet has as many agents as it may.',
  invalid_heartbeat: 'The id is not that of the last beat; the expected one is in the answer.',
  invalid_request: 'A parameter is not of its form; the text names it.',
  idempotency_key_invalid: 'The header is empty, too long or not visible ASCII.',
  idempotency_key_reused:
    'The key or id was used for another request within the hour, or belongs to another request or transfer that is pending or applied.',
  idempotency_in_progress: 'The first request under this key has not been answered yet.',
  insufficient_position: 'The wallet has fewer unlocked tokens than the request takes.',
  market_not_resolved: 'Redemption before the resolution.',
  already_done: 'This request id was carried out before.',
  invalid_asset_type: '`asset_type` is not COLLATERAL or CONDITIONAL.',
  invalid_signature_type: '`signature_type` is not 0 to 3.',
  comment_not_found: 'No such comment, or it is hidden.',
  invalid_comment:
    'The text or its parent is not acceptable, or the thread takes no more; the text says which.',
  not_the_author: 'The comment belongs to another wallet.',
  invalid_profile: 'A field of the profile is not acceptable.',
  cancel_unconfirmed: 'The cancel may or may not have been carried out. Send it again.',
  action_unconfirmed:
    'The action may or may not have been carried out. Send it again with the same id.',
  retries_unavailable: 'Redis is away, so a retry could not be distinguished from a new request.',
  too_many_retry_keys:
    'The idempotency keys of the wallet within the hour fill its part of the memory.',
  too_many_wallets:
    'Retired: no request is refused with it any more. Signatures claimed wallets in earlier versions.',
  session_ending:
    'Heartbeats were missed, and the orders of the key are still being canceled. Beat again with an empty id.',
  request_id_required:
    'A split, merge, redemption or withdrawal without an id could be captured and sent again. An `Idempotency-Key` counts as one only where the signature covers it.',
  withdrawals_frozen:
    'The money of the wallet, or of a market, does not add up, or an operator froze it. Ask the operator.',
  wallet_reserved:
    'The address is the fee wallet, a contract of the exchange or of a wallet family, or one that no person holds. Use another.',
  request_repeated:
    'The same bytes with the same proof came before, and the route carries them out once (docs/trading/conventions.md 2.8). Sign again.',
  proofs_unavailable:
    'Whether the request was sent before cannot be found out for a moment. Nothing was done.',
  other_signing_domain:
    'The signature is sound, and for a domain that other exchanges use. Sign for the one of `GET /signing-domain`.',
  deposit_required:
    'So many keys, sessions, profiles or comments exist that only wallets with money get another (docs/trading/limits.md).',
  order_unconfirmed:
    'The order was sent, and its result did not come in time: it may be on the book. The same signed order gets its result.',
  order_signed_ahead:
    'The `timestamp` of the order, Unix milliseconds, is more than 300 s ahead of the server. Set the clock, or sign with the time of `GET /time`.',
  argument_not_signed:
    'The query of a request that changes something counts only where the signature covers it: else another party could change it (docs/trading/conventions.md 2.2).',
  order_unknown:
    'No order with this id has reached the book. For the time-to-book limit (2 s) one of the caller that does is refused as `fenced`.',
  log_unavailable:
    'The heartbeat was not written to the log, or not read back in time: Kafka, or a partition of it, is away. While it is, no session ends.',
  catalog_full:
    'A listing would pass the markets that the exchange is set up for: `PM_MARKETS_MAX`, which goes with the memory of its services (docs/trading/limits.md). Resolved markets count.',
};
