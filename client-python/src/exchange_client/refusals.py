"""The closed list of refusals. Written by scripts/generate.py from docs/trading/errors.md."""

from typing import Literal, NamedTuple


class Refusal(NamedTuple):
    status: int
    """HTTP status of a single request."""
    text: str
    retry: bool
    """Whether the very same request can succeed later."""
    final: bool
    """The same signed order gets the same result again."""
    waiting: Literal["unchanged", "unknown"] | None = None
    """Where waiting helps: whether the refused request has certainly changed nothing."""


refusals: dict[str, Refusal] = {
    "unknown": Refusal(500, "unknown error", retry=True, final=False, waiting="unknown"),
    "invalid_payload": Refusal(400, "Invalid order payload", retry=False, final=False),
    "too_many_orders": Refusal(
        400, "Too many orders in payload: {count}, max allowed: {max}", retry=False, final=False
    ),
    "invalid_l1": Refusal(401, "Invalid L1 Request headers", retry=False, final=False),
    "invalid_l2": Refusal(401, "Unauthorized/Invalid api key", retry=False, final=False),
    "owner_mismatch": Refusal(
        400, "the order owner has to be the owner of the API KEY", retry=False, final=False
    ),
    "signer_mismatch": Refusal(
        400,
        "the order signer address has to be the address of the API KEY",
        retry=False,
        final=False,
    ),
    "invalid_signature": Refusal(400, "invalid order signature", retry=False, final=False),
    "market_not_found": Refusal(400, "token is not registered", retry=False, final=False),
    "condition_mismatch": Refusal(400, "condition is not registered", retry=False, final=False),
    "condition_paused": Refusal(409, "condition_paused", retry=True, final=False),
    "market_not_ready": Refusal(
        400, "the market is not yet ready to process new orders", retry=True, final=False
    ),
    "market_resolved": Refusal(
        400, "the market is resolved and takes no orders", retry=False, final=True
    ),
    "invalid_tick_size": Refusal(
        400,
        "order {id} is invalid. Price ({price}) breaks minimum tick size rule: {tick}",
        retry=False,
        final=True,
    ),
    "invalid_size": Refusal(
        400,
        "order {id} is invalid. Size ({size}) lower than the minimum: {min}",
        retry=False,
        final=True,
    ),
    "invalid_amounts": Refusal(
        400,
        "order {id} is invalid. Amounts are not whole lots of {lot} shares within the size limit",
        retry=False,
        final=True,
    ),
    "duplicate": Refusal(400, "order {id} is invalid. Duplicated.", retry=False, final=False),
    "insufficient_balance_or_allowance": Refusal(
        400, "not enough balance / allowance", retry=True, final=False
    ),
    "invalid_expiration": Refusal(400, "invalid expiration", retry=False, final=True),
    "stale_order": Refusal(400, "order timestamp is too old", retry=False, final=False),
    "order_version_mismatch": Refusal(400, "order_version_mismatch", retry=False, final=False),
    "invalid_order_type": Refusal(400, "invalid order type", retry=False, final=False),
    "post_only_would_cross": Refusal(
        400, "invalid post-only order: order crosses book", retry=False, final=True
    ),
    "invalid_post_only_order_type": Refusal(
        400, "postOnly requires GTC or GTD", retry=False, final=False
    ),
    "fok_not_filled": Refusal(
        400,
        "order couldn't be fully filled. FOK orders are fully filled or killed.",
        retry=False,
        final=True,
    ),
    "fak_not_filled": Refusal(
        400,
        "no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.",
        retry=False,
        final=True,
    ),
    "self_trade": Refusal(
        400, "order would trade with an order of the same owner", retry=False, final=True
    ),
    "fill_limit": Refusal(
        400, "order meets more resting orders than one order may", retry=False, final=True
    ),
    "too_many_open_orders": Refusal(
        400, "too many open orders for this wallet", retry=True, final=False
    ),
    "too_late": Refusal(
        400, "order reached the book too late and was not placed", retry=False, final=True
    ),
    "old_generation": Refusal(
        503,
        "the collateral of this order was reserved before a ledger rebuild",
        retry=True,
        final=False,
        waiting="unchanged",
    ),
    "post_only_mode": Refusal(
        503,
        "post-only mode: only post-only orders and cancels are allowed",
        retry=True,
        final=False,
    ),
    "cancel_only": Refusal(
        503,
        "Trading is currently cancel-only. New orders are not accepted, but cancels are allowed.",
        retry=True,
        final=False,
    ),
    "trading_disabled": Refusal(503, "Trading is currently disabled", retry=True, final=False),
    "ledger_not_ready": Refusal(
        503,
        "the collateral ledger is being rebuilt, try again shortly",
        retry=True,
        final=False,
        waiting="unchanged",
    ),
    "partition_not_ready": Refusal(
        425,
        "the matching engine of this market is restarting, try again shortly",
        retry=True,
        final=False,
        waiting="unchanged",
    ),
    "overloaded": Refusal(
        503,
        "too many requests in flight, try again shortly",
        retry=True,
        final=False,
        waiting="unchanged",
    ),
    "internal_error": Refusal(
        500, "could not insert order", retry=True, final=False, waiting="unknown"
    ),
    "invalid_order_id": Refusal(400, "Invalid orderID", retry=False, final=False),
    "order_not_found": Refusal(
        404, "order can't be found - already canceled or matched", retry=False, final=False
    ),
    "already_matched": Refusal(400, "order already matched", retry=False, final=False),
    "no_cancel_filter": Refusal(400, "market or asset_id is required", retry=False, final=False),
    "rate_limited": Refusal(429, "Too Many Requests", retry=True, final=False, waiting="unchanged"),
    "too_many_cancels": Refusal(
        400, "Too many orders in payload, max allowed: {max}", retry=False, final=False
    ),
    "fenced": Refusal(
        400, "order was canceled before it reached the book", retry=False, final=True
    ),
    "order_delayed": Refusal(
        400, "order is delayed and cannot be canceled", retry=True, final=False
    ),
    "system_paused": Refusal(409, "system_paused", retry=True, final=False),
    "timestamp_skew": Refusal(
        401,
        "TIMESTAMP_SKEW: the request time is {skew} s off, the server time is {server}",
        retry=True,
        final=False,
        waiting="unchanged",
    ),
    "user_banned": Refusal(400, "'{address}' address banned", retry=False, final=False),
    "closed_only": Refusal(
        400, "'{address}' address in closed only mode", retry=False, final=False
    ),
    "read_only_key": Refusal(403, "this API key may only read", retry=False, final=False),
    "api_key_not_created": Refusal(400, "Could not create api key", retry=False, final=False),
    "api_key_not_found": Refusal(404, "api key not found", retry=False, final=False),
    "too_many_api_keys": Refusal(
        400, "too many API keys, max allowed: {max}", retry=False, final=False
    ),
    "unauthorized_agent": Refusal(401, "unauthorized", retry=False, final=False),
    "agent_not_found": Refusal(404, "agent not found", retry=False, final=False),
    "too_many_agents": Refusal(
        400, "too many agents, max allowed: {max}", retry=False, final=False
    ),
    "invalid_heartbeat": Refusal(400, "Invalid Heartbeat ID", retry=True, final=False),
    "invalid_request": Refusal(400, "invalid request: {detail}", retry=False, final=False),
    "idempotency_key_invalid": Refusal(
        400, "Idempotency-Key must be 1 to {max} visible ASCII characters", retry=False, final=False
    ),
    "idempotency_key_reused": Refusal(
        422, "Idempotency-Key was used with another request", retry=False, final=False
    ),
    "idempotency_in_progress": Refusal(
        503,
        "the first request with this Idempotency-Key is still running",
        retry=True,
        final=False,
        waiting="unknown",
    ),
    "insufficient_position": Refusal(
        400, "insufficient unlocked position", retry=True, final=False
    ),
    "market_not_resolved": Refusal(400, "the market is not resolved yet", retry=True, final=False),
    "already_done": Refusal(400, "this request was carried out before", retry=False, final=False),
    "invalid_asset_type": Refusal(400, "Invalid asset type", retry=False, final=False),
    "invalid_signature_type": Refusal(400, "Invalid signature_type", retry=False, final=False),
    "comment_not_found": Refusal(404, "comment not found", retry=False, final=False),
    "invalid_comment": Refusal(400, "invalid comment: {detail}", retry=False, final=False),
    "not_the_author": Refusal(403, "only its author may change it", retry=False, final=False),
    "invalid_profile": Refusal(400, "invalid profile: {detail}", retry=False, final=False),
    "cancel_unconfirmed": Refusal(
        503, "order could not be cancelled", retry=True, final=False, waiting="unknown"
    ),
    "action_unconfirmed": Refusal(
        503,
        "the request is not confirmed yet, send it again with the same id",
        retry=True,
        final=False,
        waiting="unknown",
    ),
    "retries_unavailable": Refusal(
        503,
        "the memory of retry keys is away or full, try again shortly",
        retry=True,
        final=False,
        waiting="unchanged",
    ),
    "too_many_retry_keys": Refusal(
        429,
        "the retry keys of this wallet within the hour are too many or too long",
        retry=True,
        final=False,
        waiting="unchanged",
    ),
    "too_many_wallets": Refusal(
        400,
        "too many contract wallets claimed by this address, max allowed: {max}",
        retry=False,
        final=False,
    ),
    "session_ending": Refusal(
        503,
        "the orders of the missed session are being canceled, try again shortly",
        retry=True,
        final=False,
        waiting="unchanged",
    ),
    "request_id_required": Refusal(
        400,
        "this request moves money and needs an id: in the body, or as Idempotency-Key covered by the signature",
        retry=False,
        final=False,
    ),
    "withdrawals_frozen": Refusal(
        403,
        "withdrawals of this wallet are frozen until the operator clears them",
        retry=True,
        final=False,
    ),
    "wallet_reserved": Refusal(
        403, "the address is reserved and can have no keys", retry=False, final=False
    ),
    "request_repeated": Refusal(
        409,
        "this signed request was used before, sign it again with the present time",
        retry=False,
        final=False,
    ),
    "proofs_unavailable": Refusal(
        503,
        "the memory of used proofs is away or full, try again shortly",
        retry=True,
        final=False,
        waiting="unchanged",
    ),
    "other_signing_domain": Refusal(
        400,
        "signed for the domain of another exchange, see GET /signing-domain",
        retry=False,
        final=False,
    ),
    "deposit_required": Refusal(
        403,
        "the exchange keeps no more of these for wallets without money, deposit {amount} USDC first",
        retry=True,
        final=False,
    ),
    "order_unconfirmed": Refusal(
        503,
        "the order is not confirmed yet: send the same signed order again, or ask GET /data/order/{id}",
        retry=True,
        final=False,
        waiting="unknown",
    ),
    "order_signed_ahead": Refusal(
        400,
        "order timestamp is too far ahead: {ahead} s, the server time is {server}",
        retry=False,
        final=False,
    ),
    "argument_not_signed": Refusal(
        400,
        "the signature does not cover {name} in the query: put it into the body, or sign the path with its query",
        retry=False,
        final=False,
    ),
    "order_unknown": Refusal(
        404,
        "order can't be found - not seen yet, and refused if it still arrives",
        retry=False,
        final=False,
    ),
    "log_unavailable": Refusal(
        503,
        "the log of the exchange cannot be reached for the moment, try again shortly",
        retry=True,
        final=False,
        waiting="unknown",
    ),
    "catalog_full": Refusal(
        409,
        "the catalog has {markets} markets, and {more} more would pass the {max} of PM_MARKETS_MAX",
        retry=True,
        final=False,
    ),
}
