"""Responses of the exchange. Written by scripts/generate.py from docs/openapi.json."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from ._model import Model, Open, json_list, none_if_empty

OptionalDecimal: TypeAlias = Annotated[Decimal | None, BeforeValidator(none_if_empty)]
OptionalDatetime: TypeAlias = Annotated[datetime | None, BeforeValidator(none_if_empty)]
OptionalInt: TypeAlias = Annotated[int | None, BeforeValidator(none_if_empty)]
TextList: TypeAlias = Annotated[list[str], BeforeValidator(json_list)]


class RootResponse(Model):
    data: Annotated[Literal["OK"], Open]


class VersionResponse(Model):
    version: Annotated[Literal[2], Open]


class SigningDomainResponse(Model):
    name: str
    version: str
    chain_id: int = Field(alias="chainId")
    exchange: str
    """Verifying contract of ordinary markets and of L1 proofs."""
    neg_risk_exchange: str = Field(alias="negRiskExchange")
    """Verifying contract of neg-risk markets."""
    family_domains: list[SigningDomainResponseFamilyDomains] = Field(alias="familyDomains")
    """Domains of the API family that are accepted as well; empty unless configured."""


class SigningDomainResponseFamilyDomains(Model):
    name: str
    version: str
    chain_id: int = Field(alias="chainId")
    exchange: str
    """Verifying contract of ordinary markets and of L1 proofs."""
    neg_risk_exchange: str = Field(alias="negRiskExchange")
    """Verifying contract of neg-risk markets."""


class StatusResponse(Model):
    projections: list[StatusResponseProjections]
    partitions: list[StatusResponsePartitions]
    streams: list[StatusResponseStreams]
    """The instances of the stream service."""
    solvency: StatusResponseSolvency
    """The check of all money and tokens against each other, after each record."""


class StatusResponseProjections(Model):
    projection: str
    known: bool
    """False while its store does not answer."""
    complete_through: datetime | None = Field(alias="completeThrough")
    partitions: list[StatusResponseProjectionsPartitions]


class StatusResponseProjectionsPartitions(Model):
    partition: int
    offset: int
    """First record of `executions` that may be missing."""
    moment: datetime | None
    lag: int
    """Records of the log after it."""


class StatusResponsePartitions(Model):
    partition: int
    owner: str | None
    state: Annotated[Literal["live", "restoring", "unowned"], Open]
    """`live`: a record of it came within 2 s; its owner ticks."""
    last_offset: int = Field(alias="lastOffset")
    """Of `orders`; -1 when it is empty."""
    applied: int | None
    lag: int | None
    clock: datetime | None
    orders: int
    """Placed and refused ones since the answering process follows the log."""
    fills: int


class StatusResponseStreams(Model):
    known: bool
    """False while it does not answer."""
    follows: bool
    """It has caught up and follows every partition of the log."""
    lag: int
    """Records of the log that it has not taken."""
    fault_ms: int = Field(alias="faultMs")
    """For how long it has not been able to follow some partition."""


class StatusResponseSolvency(Model):
    """The check of all money and tokens against each other, after each record."""

    sound: bool
    """False while any money did not add up and no operator has cleared it."""
    withdrawals: Annotated[Literal["open", "frozen"], Open]
    """Those of all wallets."""
    frozen_wallets: int = Field(alias="frozenWallets")
    """Wallets whose withdrawals are frozen, by the check or by an operator."""


class RateLimitsResponse(Model):
    caller: Annotated[Literal["address", "key", "agent"], Open]
    """What the caller is counted by."""
    enabled: bool
    """False when this installation limits no caller; the list is empty then."""
    limits: list[RateLimitsResponseLimits]
    streams: StreamLimits


class RateLimitsResponseLimits(Model):
    scope: str
    routes: list[str]
    unit: Annotated[Literal["requests", "items", "hundreds of items"], Open]
    window_seconds: int
    limit: int
    remaining: int
    resets_at: int


class StreamLimits(Model):
    connections_per_address: int
    """Open connections of one address; a further one is closed with 4029."""
    connections_per_key: int
    """Open connections that proved one API key; a further proof closes with 4029."""
    connections_opened_per_minute: int
    """Connections that one address opens in a minute; then 4029."""
    subscriptions_per_connection: int
    """Keys that one connection subscribes to, over all channels."""
    live_subscriptions_per_connection: int
    """Subscriptions of one connection of `/ws/live-data`."""
    memory_bytes_per_connection: int
    """Memory that the subscriptions of one connection count with; what passes it is refused as too many subscriptions."""
    memory_bytes_per_address: int
    """The same for all connections of one address, each of which counts 40 KiB itself; a connection that passes it is closed with 4029."""
    keys_per_frame: int
    """Keys that one frame names."""
    frames_per_second: int
    """Frames of one client in a second, after a burst of twice as many."""
    frame_bytes: int
    """Bytes of a frame of a client; a larger one closes the connection with 1009."""
    queue_bytes: int
    """Bytes that wait for a slow reader. Past half of them deltas are merged, past all of them the connection is closed with 4008."""
    resume_messages: int
    """Messages that a resumed subscription of a public channel gets again."""
    resume_seconds: int
    """Age of the oldest of them, by the clock of the partition."""
    resumes_per_connection: int
    """Resumed subscriptions of one connection that are sent at once; further ones wait."""
    resumes_per_address: int
    """The same for all connections of one address."""
    snapshot_items: int
    """Orders, and positions, of one message: a snapshot with more of them comes in parts."""
    wrong_frames: int
    """Wrong frames of one connection; the last of them closes it with 1008."""
    unsubscribed_seconds: int
    """A connection without a subscription is closed after this, with 1008."""
    silent_seconds: int
    """A connection that answers no ping of the server for so long is closed."""


class OpenApiDocument(Model):
    """An OpenAPI 3.1 document."""

    openapi: str
    info: dict[str, object]
    servers: list[dict[str, object]]
    tags: list[dict[str, object]]
    paths: dict[str, object]
    components: dict[str, object]


class ApiKeyTrio(Model):
    api_key: str = Field(alias="apiKey")
    secret: str
    """32 bytes, padded base64url."""
    passphrase: str
    """64 hex digits."""


class ApiKeyList(Model):
    api_keys: list[str] = Field(alias="apiKeys")


class ApiKeyFacts(Model):
    api_key: str = Field(alias="apiKey")
    nonce: int
    status: Annotated[Literal["active", "revoked"], Open]
    created_at: datetime = Field(alias="createdAt")
    revoked_at: datetime | None = Field(alias="revokedAt")


class KeySettings(Model):
    self_trade: Annotated[Literal["cancel_newest", "cancel_oldest", "cancel_both"], Open]


class ReadOnlyKey(Model):
    api_key: str = Field(alias="apiKey")


class KeyDeleted(Model):
    deleted: Literal[True]


class KeyValidity(Model):
    valid: bool


class BuilderKey(Model):
    key: str
    secret: str
    passphrase: str


class BuilderKeyFacts(Model):
    key: str
    created_at: datetime = Field(alias="createdAt")
    revoked_at: datetime | None = Field(alias="revokedAt")


class ClosedOnlyResponse(Model):
    closed_only: bool


class AgentView(Model):
    id: str
    name: str
    status: str
    created_at: datetime = Field(alias="createdAt")
    last_active_at: datetime | None = Field(alias="lastActiveAt")


class AgentList(Model):
    data: list[AgentView]


class AgentWithKey(Model):
    id: str
    name: str
    status: str
    created_at: datetime = Field(alias="createdAt")
    last_active_at: datetime | None = Field(alias="lastActiveAt")
    key: str


class AgentMarkets(Model):
    data: MarketList
    limit: int
    offset: int
    count: int


class MarketResponse(Model):
    id: str
    question: str
    condition_id: str = Field(alias="conditionId")
    clob_token_ids: TextList = Field(alias="clobTokenIds")
    """A JSON array as text."""
    slug: str
    resolution_source: str = Field(alias="resolutionSource")
    start_date: datetime = Field(alias="startDate")
    end_date: datetime = Field(alias="endDate")
    image: str
    icon: str
    description: str
    outcomes: TextList
    """A JSON array as text."""
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    question_id: str = Field(alias="questionID")
    uma_resolution_status: Annotated[Literal["proposed", "disputed", "resolved"], Open] | None = (
        Field(default=None, alias="umaResolutionStatus")
    )
    """Not there before the first proposal of a resolution."""
    uma_end_date: datetime | None = Field(default=None, alias="umaEndDate")
    """ISO 8601, milliseconds, UTC."""
    proposed_outcome_prices: TextList | None = Field(default=None, alias="proposedOutcomePrices")
    """A JSON array as text."""
    mirror_condition_id: str = Field(alias="mirrorConditionId")
    mirror_clob_token_ids: TextList = Field(alias="mirrorClobTokenIds")
    """A JSON array as text."""
    events: list[EventSummary]


class EventSummary(Model):
    id: str
    ticker: str
    slug: str
    title: str
    description: str
    resolution_source: str = Field(alias="resolutionSource")
    start_date: datetime = Field(alias="startDate")
    end_date: datetime = Field(alias="endDate")
    image: str
    icon: str
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    creation_date: datetime = Field(alias="creationDate")


class FamilyAgentMarkets(Model):
    data: FamilyMarketList
    limit: int
    offset: int
    count: int


class FamilyMarketResponse(Model):
    id: str
    question: str
    condition_id: str = Field(alias="conditionId")
    clob_token_ids: TextList = Field(alias="clobTokenIds")
    """A JSON array as text."""
    slug: str
    resolution_source: str = Field(alias="resolutionSource")
    start_date: datetime = Field(alias="startDate")
    end_date: datetime = Field(alias="endDate")
    image: str
    icon: str
    description: str
    outcomes: TextList
    """A JSON array as text."""
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    question_id: str = Field(alias="questionID")
    uma_resolution_status: Annotated[Literal["proposed", "disputed", "resolved"], Open] | None = (
        Field(default=None, alias="umaResolutionStatus")
    )
    """Not there before the first proposal of a resolution."""
    uma_end_date: datetime | None = Field(default=None, alias="umaEndDate")
    """ISO 8601, milliseconds, UTC."""
    proposed_outcome_prices: TextList | None = Field(default=None, alias="proposedOutcomePrices")
    """A JSON array as text."""
    outcome_prices: TextList = Field(alias="outcomePrices")
    """A JSON array as text."""
    order_price_min_tick_size: Decimal = Field(alias="orderPriceMinTickSize")
    order_min_size: Decimal = Field(alias="orderMinSize")
    neg_risk: bool = Field(alias="negRisk")
    neg_risk_market_id: str | None = Field(default=None, alias="negRiskMarketID")
    """Condition id of a market."""
    accepting_orders: bool = Field(alias="acceptingOrders")
    accepting_orders_timestamp: datetime = Field(alias="acceptingOrdersTimestamp")
    enable_order_book: bool = Field(alias="enableOrderBook")
    market_maker_address: str = Field(alias="marketMakerAddress")
    category: str
    group_item_title: str | None = Field(default=None, alias="groupItemTitle")
    start_date_iso: date = Field(alias="startDateIso")
    """A day in UTC."""
    end_date_iso: date | None = Field(default=None, alias="endDateIso")
    """A day in UTC."""
    closed_time: datetime | None = Field(default=None, alias="closedTime")
    """ISO 8601, milliseconds, UTC."""
    uma_resolution_statuses: TextList = Field(alias="umaResolutionStatuses")
    """A JSON array as text."""
    fees_enabled: bool = Field(alias="feesEnabled")
    fee_schedule: FamilyMarketResponseFeeSchedule | None = Field(default=None, alias="feeSchedule")
    """Shares x rate x (p(1-p))^exponent. Not there without a fee."""
    clob_rewards: list[FamilyMarketResponseClobRewards] | None = Field(
        default=None, alias="clobRewards"
    )
    rewards_min_size: Decimal = Field(alias="rewardsMinSize")
    rewards_max_spread: Decimal = Field(alias="rewardsMaxSpread")
    """In cents."""
    volume: Decimal
    volume_num: Decimal = Field(alias="volumeNum")
    volume24hr: Decimal
    volume1wk: Decimal
    volume1mo: Decimal
    volume1yr: Decimal
    liquidity: Decimal
    liquidity_num: Decimal = Field(alias="liquidityNum")
    best_bid: Decimal | None = Field(default=None, alias="bestBid")
    best_ask: Decimal | None = Field(default=None, alias="bestAsk")
    spread: Decimal | None = Field(default=None)
    last_trade_price: Decimal | None = Field(default=None, alias="lastTradePrice")
    competitive: Decimal
    one_day_price_change: Decimal | None = Field(default=None, alias="oneDayPriceChange")
    """Of outcome 0, in USDC. Not there without a price at that time."""
    one_week_price_change: Decimal | None = Field(default=None, alias="oneWeekPriceChange")
    """Of outcome 0, in USDC. Not there without a price at that time."""
    one_month_price_change: Decimal | None = Field(default=None, alias="oneMonthPriceChange")
    """Of outcome 0, in USDC. Not there without a price at that time."""
    events: list[EventSummary]


class FamilyMarketResponseFeeSchedule(Model):
    """Shares x rate x (p(1-p))^exponent. Not there without a fee."""

    rate: Decimal
    exponent: Decimal
    taker_only: bool = Field(alias="takerOnly")
    rebate_rate: Decimal = Field(alias="rebateRate")


class FamilyMarketResponseClobRewards(Model):
    id: str
    condition_id: str = Field(alias="conditionId")
    asset_address: str = Field(alias="assetAddress")
    rewards_amount: Decimal = Field(alias="rewardsAmount")
    rewards_daily_rate: Decimal = Field(alias="rewardsDailyRate")
    start_date: date = Field(alias="startDate")
    """A day in UTC."""


class PlacementResult(Model):
    success: bool
    error_msg: str = Field(alias="errorMsg")
    """Empty on success."""
    order_id: str = Field(alias="orderID")
    """Order hash; empty when no order exists."""
    order_hash: str = Field(alias="orderHash")
    status: Annotated[Literal["live", "matched", "delayed", ""], Open]
    making_amount: OptionalDecimal = Field(alias="makingAmount")
    """What the order gave at once, decimal USDC or shares."""
    taking_amount: OptionalDecimal = Field(alias="takingAmount")
    """What the order got at once, decimal USDC or shares."""
    transactions_hashes: list[str] | None = Field(default=None, alias="transactionsHashes")
    trade_ids: list[str] | None = Field(default=None, alias="tradeIDs")
    code: str | None = Field(default=None)
    """Refusal code, schemas/src/refusals.ts."""
    repeated: Literal[True] | None = Field(default=None)
    """The log had this order before: the other fields are its first result."""
    alive: bool | None = Field(default=None)
    """Of a repeated order: whether it rests or is delayed now, as of the newest record read."""
    retry_after_seconds: int | None = Field(default=None)
    error: str | None = Field(default=None)
    """The text of errorMsg, on a refused single order."""


class CancelResult(Model):
    canceled: list[str]
    not_canceled: dict[str, str]
    """Why each of the others was not canceled: texts, which clients match exactly."""
    not_canceled_codes: dict[str, str] | None = Field(default=None)
    """The same in codes of the closed list of refusals (errors.md)."""


class OrderFinding(Model):
    valid: bool
    """No check failed; of an order without a signature, none of the others."""
    code: str | None = Field(default=None)
    error_msg: str = Field(alias="errorMsg")
    """Empty when the order is valid."""
    order_id: str | None = Field(default=None, alias="orderID")
    known: bool | None = Field(default=None)
    """Placing it again would give its first result."""
    signature: OrderFindingSignature | None = Field(default=None)
    order: OrderFindingOrder | None = Field(default=None)
    money: OrderFindingMoney | None = Field(default=None)
    market: OrderFindingMarket | None = Field(default=None)


class OrderFindingSignature(Model):
    checked: bool
    """False for an order without a signature: `valid` is false then and `orderHash` null, and the finding is about the rest."""
    valid: bool
    signature_type: int = Field(alias="signatureType")
    expected: str
    """Who had to sign."""
    struct_hash: str = Field(alias="structHash")
    order_hash: str | None = Field(alias="orderHash")
    likely_hash: str = Field(alias="likelyHash")
    domains: list[OrderFindingSignatureDomains]


class OrderFindingSignatureDomains(Model):
    name: str
    version: str
    chain_id: int = Field(alias="chainId")
    verifying_contract: str = Field(alias="verifyingContract")
    digest: str
    order_hash: str = Field(alias="orderHash")
    recovered: str | None
    matches: bool
    accepted: bool
    """Whether orders signed for this domain are accepted here."""


class OrderFindingOrder(Model):
    side: Annotated[Literal["BUY", "SELL"], Open]
    order_type: Annotated[Literal["GTC", "GTD", "FOK", "FAK"], Open] = Field(alias="orderType")
    post_only: bool = Field(alias="postOnly")
    price: Decimal
    size: Decimal
    budget: Decimal
    leaves_book_at: str | None


class OrderFindingMoney(Model):
    wallet: str
    needed: Decimal
    available: Decimal | None
    sufficient: bool | None


class OrderFindingMarket(Model):
    condition_id: str
    outcome: int
    mode: str
    neg_risk: bool
    minimum_tick_size: Decimal
    min_order_size: Decimal
    fee_rate_bps: int
    taker_delay_ms: int
    ready: bool


class StoredOrder(Model):
    reason: str | None
    code: str | None
    """Why an order that was delayed or held was refused at the end; else null."""
    ended_at: datetime | None
    order: StoredOrderOrder
    id: str
    status: str
    owner: str | None
    """API key of the owner; null for callers who did not prove to be it."""
    maker_address: str
    market: str
    asset_id: str
    side: str
    original_size: Decimal
    size_matched: Decimal
    price: Decimal
    associate_trades: list[str]
    outcome: str
    created_at: int
    expiration: str
    order_type: str


class StoredOrderOrder(Model):
    reason: str | None
    code: str | None
    """Why an order that was delayed or held was refused at the end; else null."""
    ended_at: datetime | None
    associate_trades: list[str] = Field(alias="associateTrades")
    id: str
    status: str
    market: str
    original_size: Decimal = Field(alias="originalSize")
    outcome: str
    maker_address: str = Field(alias="makerAddress")
    owner: str | None
    """API key of the owner; null for callers who did not prove to be it."""
    price: Decimal
    side: str
    size_matched: Decimal = Field(alias="sizeMatched")
    asset_id: str = Field(alias="assetId")
    expiration: int
    """Unix seconds; "0" when none."""
    order_type: str
    created_at: datetime = Field(alias="createdAt")


class OpenOrderPage(Model):
    data: list[OpenOrder]
    next_cursor: str
    """"LTE=" after the last page."""
    limit: int
    count: int
    as_of: list[OpenOrderPageAsOf]
    """The place in each partition that the rows are true for: `from` of the channel `own`. Missing where it is not known."""


class OpenOrder(Model):
    id: str
    status: str
    owner: str
    market: str
    side: str
    price: Decimal
    outcome: str
    expiration: int
    """Unix seconds; "0" when none."""
    order_type: str
    maker_address: str
    asset_id: str
    original_size: Decimal
    size_matched: Decimal
    associate_trades: list[str]
    created_at: int
    """Unix seconds."""


class OpenOrderPageAsOf(Model):
    partition: int
    offset: int
    """Input offset of the newest record that counts; -1 before the first."""


class FoundOrder(Model):
    order_id: str
    status: int
    """200, 400 (no order id) or 404."""
    order: FoundOrderOrder | None = Field(default=None)
    error: str | None = Field(default=None)
    code: str | None = Field(default=None)
    """Why it was refused, when it was never an order."""


class FoundOrderOrder(Model):
    reason: str | None
    code: str | None
    """Why an order that was delayed or held was refused at the end; else null."""
    ended_at: datetime | None
    associate_trades: list[str] = Field(alias="associateTrades")
    id: str
    status: str
    market: str
    original_size: Decimal = Field(alias="originalSize")
    outcome: str
    maker_address: str = Field(alias="makerAddress")
    owner: str | None
    """API key of the owner; null for callers who did not prove to be it."""
    price: Decimal
    side: str
    size_matched: Decimal = Field(alias="sizeMatched")
    asset_id: str = Field(alias="assetId")
    expiration: int
    """Unix seconds; "0" when none."""
    order_type: str
    created_at: datetime = Field(alias="createdAt")


class ScoringResponse(Model):
    scoring: bool


class TradePage(Model):
    data: list[Trade]
    next_cursor: str
    """"LTE=" after the last page."""
    limit: int
    count: int
    as_of: list[TradePageAsOf]
    """The place in each partition that the rows are true for: `from` of the channel `own`. Missing where it is not known."""


class Trade(Model):
    id: str
    taker_order_id: str
    market: str
    asset_id: str
    side: Annotated[Literal["BUY", "SELL"], Open]
    size: Decimal
    fee_rate_bps: str
    price: Decimal
    status: Annotated[Literal["CONFIRMED"], Open]
    match_time: int
    """Unix seconds."""
    last_update: int
    """Unix seconds."""
    outcome: str
    bucket_index: int
    owner: str
    maker_address: str
    maker_orders: list[TradeMakerOrders]
    transaction_hash: str
    trader_side: Annotated[Literal["TAKER", "MAKER"], Open]
    type: Annotated[Literal["TAKER", "MAKER"], Open]


class TradeMakerOrders(Model):
    order_id: str
    owner: str
    maker_address: str
    matched_amount: Decimal
    price: Decimal
    fee_rate_bps: str
    asset_id: str
    outcome: str
    side: Annotated[Literal["BUY", "SELL"], Open]


class TradePageAsOf(Model):
    partition: int
    offset: int
    """Input offset of the newest record that counts; -1 before the first."""


class AccountActionResult(Model):
    success: Literal[True]
    action: Annotated[Literal["split", "merge", "redeem", "withdrawal"], Open]
    id: str
    request_id: str
    """32 bytes that follow from wallet, action, condition, amount and id."""
    wallet: str
    condition_id: str | None = Field(default=None)
    amount: Decimal | None = Field(default=None)
    """Decimal shares, as asked; of a withdrawal the USDC that were paid."""
    payout: Decimal | None = Field(default=None)
    """Redemptions: decimal USDC paid."""


class BalanceAllowance(Model):
    balance: int
    """Millionths, as text."""
    allowances: dict[str, int]


class Notification(Model):
    id: int
    """The same for the same happening, for ever."""
    timestamp: int
    """Unix milliseconds."""
    type: Annotated[Literal[1, 2, 4], Open]
    owner: str
    payload: NotificationPayload


class NotificationPayload(Model):
    asset_id: str
    condition_id: str
    event_slug: str = Field(alias="eventSlug")
    icon: str
    image: str
    market: str
    market_slug: str
    matched_size: Decimal
    order_id: str
    original_size: Decimal
    outcome: str
    outcome_index: int
    owner: str
    price: Decimal
    question: str
    remaining_size: Decimal
    series_slug: str = Field(alias="seriesSlug")
    side: str
    trade_id: str
    transaction_hash: str
    type: str
    reason: str | None


class DeletedNotifications(Model):
    deleted: list[str]


class ListBalancesResponse(Model):
    wallets: list[WalletBalances]


class WalletBalances(Model):
    wallet: str
    usdc: WalletBalancesUsdc
    tokens: list[TokenBalance]


class WalletBalancesUsdc(Model):
    total: Decimal
    """free + held."""
    free: Decimal
    """Not bound to resting orders."""
    held: Decimal
    """Bound to resting orders."""
    pending: Decimal
    """Of the free part: bound to orders on their way."""
    available: Decimal
    """free - pending: what a new order may use."""


class TokenBalance(Model):
    asset_id: str
    market: str
    outcome: str
    outcome_index: int
    size: Decimal


class BareHeartbeatResponse(Model):
    status: Annotated[Literal["ok"], Open]
    heartbeat_id: str
    """The current id of the chain, unchanged."""


class HeartbeatResponse(Model):
    heartbeat_id: str
    """What the next heartbeat names."""


class StreamDescription(Model):
    path: str
    description: str
    channels: list[StreamDescriptionChannels]
    limits: list[StreamDescriptionLimits]
    errors: list[StreamDescriptionErrors]
    close_codes: list[StreamDescriptionCloseCodes]


class StreamDescriptionChannels(Model):
    channel: str
    key: Annotated[Literal["token", "market", "event", "wallet"], Open]
    private: bool
    message: str
    """What one message stands for."""
    snapshot: str
    """What a subscription begins with."""


class StreamDescriptionLimits(Model):
    name: str
    limit: int
    meaning: str


class StreamDescriptionErrors(Model):
    code: str
    message: str
    retryable: bool


class StreamDescriptionCloseCodes(Model):
    code: int
    reason: str
    resumable: bool


class AsyncApiDocument(Model):
    """An AsyncAPI 3.0 document."""

    asyncapi: str
    default_content_type: str = Field(alias="defaultContentType")
    info: dict[str, object]
    channels: dict[str, object]
    operations: dict[str, object]
    components: dict[str, object]


class BookSnapshot(Model):
    market: str
    asset_id: str
    timestamp: int
    """Unix milliseconds."""
    hash: str
    bids: list[BookLevel]
    """Best last."""
    asks: list[BookLevel]
    """Best last."""
    min_order_size: Decimal
    tick_size: Decimal
    neg_risk: bool
    last_trade_price: OptionalDecimal


class BookLevel(Model):
    price: Decimal
    size: Decimal


class PastBookResponse(Model):
    market: str
    asset_id: str
    timestamp: int
    """Unix milliseconds."""
    hash: str
    bids: list[PastBookResponseBids]
    asks: list[PastBookResponseAsks]
    min_order_size: Decimal
    tick_size: Decimal
    neg_risk: bool
    last_trade_price: OptionalDecimal


class PastBookResponseBids(Model):
    price: Decimal
    size: Decimal
    order: str
    """Names the order while it rests, in this market; means nothing elsewhere."""


class PastBookResponseAsks(Model):
    price: Decimal
    size: Decimal
    order: str
    """Names the order while it rests, in this market; means nothing elsewhere."""


class PriceResponse(Model):
    price: Decimal


class PricesResponseItem(Model):
    buy: Decimal | None = Field(default=None, alias="BUY")
    """Plain decimal without exponent and trailing zeros."""
    sell: Decimal | None = Field(default=None, alias="SELL")
    """Plain decimal without exponent and trailing zeros."""


class MidpointResponse(Model):
    mid: Decimal


class SpreadResponse(Model):
    spread: Decimal


class LastTradePrice(Model):
    price: Decimal
    side: Annotated[Literal["BUY", "SELL", ""], Open]


class LastTradesPricesItem(Model):
    token_id: str
    price: Decimal
    side: str


class TickSizeResponse(Model):
    minimum_tick_size: Decimal


class NegRiskResponse(Model):
    neg_risk: bool


class FeeRate(Model):
    base_fee: Decimal
    fd: FeeRateFd
    fee_schedule: FeeRateFeeSchedule


class FeeRateFd(Model):
    r: Decimal
    e: Decimal
    to: bool


class FeeRateFeeSchedule(Model):
    rate: Decimal
    exponent: Decimal
    taker_only: bool = Field(alias="takerOnly")
    rebate_rate: Decimal = Field(alias="rebateRate")
    category: str
    version: Decimal
    source: str
    next_rate: Decimal | None = Field(default=None, alias="nextRate")
    """The higher rate from `nextRateAt` on; absent without a notice."""
    next_rate_at: datetime | None = Field(default=None, alias="nextRateAt")
    """ISO 8601, milliseconds, UTC."""


class PricesHistory(Model):
    history: list[HistoryPoint]


class HistoryPoint(Model):
    t: int
    """Start of the bucket, Unix seconds."""
    p: Decimal
    """Last midpoint of the bucket."""


class BatchPricesHistory(Model):
    history: dict[str, list[HistoryPoint]]


class CandlesResponse(Model):
    candles: list[CandlesResponseCandles]


class CandlesResponseCandles(Model):
    t: int
    """Start of the bucket, Unix seconds."""
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
    volume: Decimal
    notional: Decimal
    vwap: Decimal
    count: int
    """Fills."""


class EventListItem(Model):
    id: str
    ticker: str
    slug: str
    title: str
    description: str
    resolution_source: str = Field(alias="resolutionSource")
    start_date: datetime = Field(alias="startDate")
    end_date: datetime = Field(alias="endDate")
    image: str
    icon: str
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    tags: list[CatalogTagResponse]
    markets: list[ListedMarket]


class CatalogTagResponse(Model):
    id: str
    label: str
    slug: str
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    requires_translation: bool = Field(alias="requiresTranslation")


class ListedMarket(Model):
    id: str
    question: str
    condition_id: str = Field(alias="conditionId")
    clob_token_ids: TextList = Field(alias="clobTokenIds")
    """A JSON array as text."""
    mirror_condition_id: str = Field(alias="mirrorConditionId")
    mirror_clob_token_ids: TextList = Field(alias="mirrorClobTokenIds")
    """A JSON array as text."""


class FamilyEventListItem(Model):
    id: str
    ticker: str
    slug: str
    title: str
    description: str
    resolution_source: str = Field(alias="resolutionSource")
    start_date: datetime = Field(alias="startDate")
    end_date: datetime = Field(alias="endDate")
    image: str
    icon: str
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    tags: list[CatalogTagResponse]
    markets: list[FamilyMarket]
    closed_time: datetime | None = Field(default=None, alias="closedTime")
    """ISO 8601, milliseconds, UTC."""
    volume: Decimal
    volume24hr: Decimal
    volume1wk: Decimal
    volume1mo: Decimal
    volume1yr: Decimal
    liquidity: Decimal


class FamilyMarket(Model):
    id: str
    question: str
    condition_id: str = Field(alias="conditionId")
    clob_token_ids: TextList = Field(alias="clobTokenIds")
    """A JSON array as text."""
    slug: str
    resolution_source: str = Field(alias="resolutionSource")
    start_date: datetime = Field(alias="startDate")
    end_date: datetime = Field(alias="endDate")
    image: str
    icon: str
    description: str
    outcomes: TextList
    """A JSON array as text."""
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    question_id: str = Field(alias="questionID")
    uma_resolution_status: Annotated[Literal["proposed", "disputed", "resolved"], Open] | None = (
        Field(default=None, alias="umaResolutionStatus")
    )
    """Not there before the first proposal of a resolution."""
    uma_end_date: datetime | None = Field(default=None, alias="umaEndDate")
    """ISO 8601, milliseconds, UTC."""
    proposed_outcome_prices: TextList | None = Field(default=None, alias="proposedOutcomePrices")
    """A JSON array as text."""
    outcome_prices: TextList = Field(alias="outcomePrices")
    """A JSON array as text."""
    order_price_min_tick_size: Decimal = Field(alias="orderPriceMinTickSize")
    order_min_size: Decimal = Field(alias="orderMinSize")
    neg_risk: bool = Field(alias="negRisk")
    neg_risk_market_id: str | None = Field(default=None, alias="negRiskMarketID")
    """Condition id of a market."""
    accepting_orders: bool = Field(alias="acceptingOrders")
    accepting_orders_timestamp: datetime = Field(alias="acceptingOrdersTimestamp")
    enable_order_book: bool = Field(alias="enableOrderBook")
    market_maker_address: str = Field(alias="marketMakerAddress")
    category: str
    group_item_title: str | None = Field(default=None, alias="groupItemTitle")
    start_date_iso: date = Field(alias="startDateIso")
    """A day in UTC."""
    end_date_iso: date | None = Field(default=None, alias="endDateIso")
    """A day in UTC."""
    closed_time: datetime | None = Field(default=None, alias="closedTime")
    """ISO 8601, milliseconds, UTC."""
    uma_resolution_statuses: TextList = Field(alias="umaResolutionStatuses")
    """A JSON array as text."""
    fees_enabled: bool = Field(alias="feesEnabled")
    fee_schedule: FamilyMarketFeeSchedule | None = Field(default=None, alias="feeSchedule")
    """Shares x rate x (p(1-p))^exponent. Not there without a fee."""
    clob_rewards: list[FamilyMarketClobRewards] | None = Field(default=None, alias="clobRewards")
    rewards_min_size: Decimal = Field(alias="rewardsMinSize")
    rewards_max_spread: Decimal = Field(alias="rewardsMaxSpread")
    """In cents."""
    volume: Decimal
    volume_num: Decimal = Field(alias="volumeNum")
    volume24hr: Decimal
    volume1wk: Decimal
    volume1mo: Decimal
    volume1yr: Decimal
    liquidity: Decimal
    liquidity_num: Decimal = Field(alias="liquidityNum")
    best_bid: Decimal | None = Field(default=None, alias="bestBid")
    best_ask: Decimal | None = Field(default=None, alias="bestAsk")
    spread: Decimal | None = Field(default=None)
    last_trade_price: Decimal | None = Field(default=None, alias="lastTradePrice")
    competitive: Decimal
    one_day_price_change: Decimal | None = Field(default=None, alias="oneDayPriceChange")
    """Of outcome 0, in USDC. Not there without a price at that time."""
    one_week_price_change: Decimal | None = Field(default=None, alias="oneWeekPriceChange")
    """Of outcome 0, in USDC. Not there without a price at that time."""
    one_month_price_change: Decimal | None = Field(default=None, alias="oneMonthPriceChange")
    """Of outcome 0, in USDC. Not there without a price at that time."""


class FamilyMarketFeeSchedule(Model):
    """Shares x rate x (p(1-p))^exponent. Not there without a fee."""

    rate: Decimal
    exponent: Decimal
    taker_only: bool = Field(alias="takerOnly")
    rebate_rate: Decimal = Field(alias="rebateRate")


class FamilyMarketClobRewards(Model):
    id: str
    condition_id: str = Field(alias="conditionId")
    asset_address: str = Field(alias="assetAddress")
    rewards_amount: Decimal = Field(alias="rewardsAmount")
    rewards_daily_rate: Decimal = Field(alias="rewardsDailyRate")
    start_date: date = Field(alias="startDate")
    """A day in UTC."""


class EventPage(Model):
    events: EventList
    next_cursor: str | None = Field(default=None)
    """Missing on the last page."""


class FamilyEventPage(Model):
    events: FamilyEventList
    next_cursor: str | None = Field(default=None)
    """Missing on the last page."""


class EventPagination(Model):
    data: EventList
    pagination: EventPaginationPagination


class EventPaginationPagination(Model):
    has_more: bool = Field(alias="hasMore")
    total_results: int = Field(alias="totalResults")


class FamilyEventPagination(Model):
    data: FamilyEventList
    pagination: FamilyEventPaginationPagination


class FamilyEventPaginationPagination(Model):
    has_more: bool = Field(alias="hasMore")
    total_results: int = Field(alias="totalResults")


class Creator(Model):
    id: str
    creator_name: str = Field(alias="creatorName")
    creator_handle: str = Field(alias="creatorHandle")
    creator_url: str = Field(alias="creatorUrl")
    creator_image: str = Field(alias="creatorImage")
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")


class EventResponse(Model):
    id: str
    ticker: str
    slug: str
    title: str
    description: str
    resolution_source: str = Field(alias="resolutionSource")
    start_date: datetime = Field(alias="startDate")
    end_date: datetime = Field(alias="endDate")
    image: str
    icon: str
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    creation_date: datetime = Field(alias="creationDate")
    tags: list[CatalogTagResponse]
    markets: list[EventMarket]
    series: list[SeriesResponse]
    event_metadata: dict[str, object] = Field(alias="eventMetadata")


class EventMarket(Model):
    id: str
    question: str
    condition_id: str = Field(alias="conditionId")
    clob_token_ids: TextList = Field(alias="clobTokenIds")
    """A JSON array as text."""
    slug: str
    resolution_source: str = Field(alias="resolutionSource")
    start_date: datetime = Field(alias="startDate")
    end_date: datetime = Field(alias="endDate")
    image: str
    icon: str
    description: str
    outcomes: TextList
    """A JSON array as text."""
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    question_id: str = Field(alias="questionID")
    uma_resolution_status: Annotated[Literal["proposed", "disputed", "resolved"], Open] | None = (
        Field(default=None, alias="umaResolutionStatus")
    )
    """Not there before the first proposal of a resolution."""
    uma_end_date: datetime | None = Field(default=None, alias="umaEndDate")
    """ISO 8601, milliseconds, UTC."""
    proposed_outcome_prices: TextList | None = Field(default=None, alias="proposedOutcomePrices")
    """A JSON array as text."""


class SeriesResponse(Model):
    id: str
    ticker: str
    slug: str
    title: str
    series_type: str = Field(alias="seriesType")
    recurrence: str
    image: str
    icon: str
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")


class FamilyEventResponse(Model):
    id: str
    ticker: str
    slug: str
    title: str
    description: str
    resolution_source: str = Field(alias="resolutionSource")
    start_date: datetime = Field(alias="startDate")
    end_date: datetime = Field(alias="endDate")
    image: str
    icon: str
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    creation_date: datetime = Field(alias="creationDate")
    tags: list[CatalogTagResponse]
    markets: list[FamilyMarket]
    series: list[SeriesResponse]
    event_metadata: dict[str, object] = Field(alias="eventMetadata")
    closed_time: datetime | None = Field(default=None, alias="closedTime")
    """ISO 8601, milliseconds, UTC."""
    volume: Decimal
    volume24hr: Decimal
    volume1wk: Decimal
    volume1mo: Decimal
    volume1yr: Decimal
    liquidity: Decimal


class RootSamplingMarketPage(Model):
    data: list[RootSamplingMarket]
    next_cursor: str
    """"LTE=" after the last page."""
    limit: int
    count: int


class RootSamplingMarket(Model):
    enable_order_book: bool
    active: bool
    closed: bool
    archived: bool
    accepting_orders: bool
    accepting_order_timestamp: datetime | None
    minimum_order_size: Decimal
    minimum_tick_size: Decimal
    condition_id: str
    question_id: str
    question: str
    description: str
    market_slug: str
    slug: str
    status: str
    market_id: Decimal
    creator: str
    end_date_iso: datetime | None
    game_start_time: str
    seconds_delay: Decimal
    fpmm: str
    maker_base_fee: Decimal
    taker_base_fee: Decimal
    notifications_enabled: bool
    neg_risk: bool
    neg_risk_market_id: str
    neg_risk_request_id: str
    icon: str
    image: str
    rewards: RootSamplingMarketRewards
    is_50_50_outcome: bool
    tokens: list[RootSamplingMarketTokens]
    tags: list[str]
    assets_ids: list[str]
    outcomes: list[str]
    event: RootSamplingMarketEvent
    raw_metadata: dict[str, object]
    itode: bool
    taker_order_delay_ms: Decimal
    order_age_seconds: Decimal
    screening_check_enabled: bool
    mirror_condition_id: str


class RootSamplingMarketRewards(Model):
    rates: list[RootSamplingMarketRewardsRates]
    min_size: Decimal
    max_spread: Decimal


class RootSamplingMarketRewardsRates(Model):
    asset_address: str
    rewards_daily_rate: Decimal


class RootSamplingMarketTokens(Model):
    token_id: str
    outcome: str
    price: Decimal
    winner: bool
    mirror_token_id: str


class RootSamplingMarketEvent(Model):
    id: str
    slug: str
    title: str
    ticker: str
    description: str


class SamplingPage(Model):
    data: list[SamplingMarket]
    next_cursor: str
    """"LTE=" after the last page."""
    limit: int
    count: int


class SamplingMarket(Model):
    enable_order_book: bool
    active: bool
    closed: bool
    archived: bool
    accepting_orders: bool
    accepting_order_timestamp: datetime | None
    minimum_order_size: Decimal
    minimum_tick_size: Decimal
    condition_id: str
    question_id: str
    question: str
    description: str
    market_slug: str
    slug: str
    status: str
    market_id: Decimal
    creator: str | None
    end_date_iso: datetime | None
    game_start_time: str | None
    seconds_delay: Decimal
    fpmm: str
    maker_base_fee: Decimal
    taker_base_fee: Decimal
    notifications_enabled: bool
    neg_risk: bool
    neg_risk_market_id: str
    neg_risk_request_id: str
    icon: str
    image: str
    rewards: SamplingMarketRewards
    is_50_50_outcome: bool
    tokens: list[SamplingMarketTokens]
    tags: list[str]
    assets_ids: list[str]
    outcomes: list[str]
    event: SamplingMarketEvent
    raw_metadata: dict[str, object]
    itode: bool
    taker_order_delay_ms: Decimal
    order_age_seconds: Decimal
    screening_check_enabled: bool


class SamplingMarketRewards(Model):
    rates: list[SamplingMarketRewardsRates]
    min_size: Decimal
    max_spread: Decimal


class SamplingMarketRewardsRates(Model):
    asset_address: str
    rewards_daily_rate: Decimal


class SamplingMarketTokens(Model):
    token_id: str
    outcome: str
    price: Decimal
    winner: bool


class SamplingMarketEvent(Model):
    id: str
    slug: str
    title: str
    ticker: str
    description: str


class MarketPage(Model):
    markets: MarketList
    next_cursor: str | None = Field(default=None)
    """Missing on the last page."""


class FamilyMarketPage(Model):
    markets: FamilyMarketList
    next_cursor: str | None = Field(default=None)
    """Missing on the last page."""


class RootBookMarket(Model):
    id: str
    question: str
    clob_token_ids: TextList = Field(alias="clobTokenIds")
    """A JSON array as text."""
    slug: str
    resolution_source: str = Field(alias="resolutionSource")
    start_date: datetime = Field(alias="startDate")
    end_date: datetime = Field(alias="endDate")
    image: str
    icon: str
    description: str
    outcomes: list[str]
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    uma_resolution_status: Annotated[Literal["proposed", "disputed", "resolved"], Open] | None = (
        Field(default=None, alias="umaResolutionStatus")
    )
    """Not there before the first proposal of a resolution."""
    uma_end_date: datetime | None = Field(default=None, alias="umaEndDate")
    """ISO 8601, milliseconds, UTC."""
    proposed_outcome_prices: TextList | None = Field(default=None, alias="proposedOutcomePrices")
    """A JSON array as text."""
    mirror_clob_token_ids: TextList = Field(alias="mirrorClobTokenIds")
    """A JSON array as text."""
    events: list[EventSummary]
    enable_order_book: bool
    accepting_orders: bool
    accepting_order_timestamp: datetime | None
    minimum_order_size: Decimal
    minimum_tick_size: Decimal
    condition_id: str
    question_id: str
    market_slug: str
    status: str
    market_id: Decimal
    creator: str
    end_date_iso: datetime | None
    game_start_time: str
    seconds_delay: Decimal
    fpmm: str
    maker_base_fee: Decimal
    taker_base_fee: Decimal
    notifications_enabled: bool
    neg_risk: bool
    neg_risk_market_id: str
    neg_risk_request_id: str
    rewards: RootBookMarketRewards
    is_50_50_outcome: bool
    tokens: list[RootBookMarketTokens]
    tags: list[str]
    assets_ids: list[str]
    event: RootBookMarketEvent
    raw_metadata: dict[str, object]
    itode: bool
    taker_order_delay_ms: Decimal
    order_age_seconds: Decimal
    screening_check_enabled: bool
    mirror_condition_id: str


class RootBookMarketRewards(Model):
    rates: list[RootBookMarketRewardsRates]
    min_size: Decimal
    max_spread: Decimal


class RootBookMarketRewardsRates(Model):
    asset_address: str
    rewards_daily_rate: Decimal


class RootBookMarketTokens(Model):
    token_id: str
    outcome: str
    price: Decimal
    winner: bool
    mirror_token_id: str


class RootBookMarketEvent(Model):
    id: str
    slug: str
    title: str
    ticker: str
    description: str


class BookMarket(Model):
    id: str
    question: str
    clob_token_ids: TextList = Field(alias="clobTokenIds")
    """A JSON array as text."""
    slug: str
    resolution_source: str = Field(alias="resolutionSource")
    start_date: datetime = Field(alias="startDate")
    end_date: datetime = Field(alias="endDate")
    image: str
    icon: str
    description: str
    outcomes: list[str]
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    uma_resolution_status: Annotated[Literal["proposed", "disputed", "resolved"], Open] | None = (
        Field(default=None, alias="umaResolutionStatus")
    )
    """Not there before the first proposal of a resolution."""
    uma_end_date: datetime | None = Field(default=None, alias="umaEndDate")
    """ISO 8601, milliseconds, UTC."""
    proposed_outcome_prices: TextList | None = Field(default=None, alias="proposedOutcomePrices")
    """A JSON array as text."""
    outcome_prices: TextList = Field(alias="outcomePrices")
    """A JSON array as text."""
    order_price_min_tick_size: Decimal = Field(alias="orderPriceMinTickSize")
    order_min_size: Decimal = Field(alias="orderMinSize")
    accepting_orders_timestamp: datetime = Field(alias="acceptingOrdersTimestamp")
    market_maker_address: str = Field(alias="marketMakerAddress")
    category: str
    group_item_title: str | None = Field(default=None, alias="groupItemTitle")
    start_date_iso: date = Field(alias="startDateIso")
    """A day in UTC."""
    closed_time: datetime | None = Field(default=None, alias="closedTime")
    """ISO 8601, milliseconds, UTC."""
    uma_resolution_statuses: TextList = Field(alias="umaResolutionStatuses")
    """A JSON array as text."""
    fees_enabled: bool = Field(alias="feesEnabled")
    fee_schedule: BookMarketFeeSchedule | None = Field(default=None, alias="feeSchedule")
    """Shares x rate x (p(1-p))^exponent. Not there without a fee."""
    clob_rewards: list[BookMarketClobRewards] | None = Field(default=None, alias="clobRewards")
    rewards_min_size: Decimal = Field(alias="rewardsMinSize")
    rewards_max_spread: Decimal = Field(alias="rewardsMaxSpread")
    """In cents."""
    volume: Decimal
    volume_num: Decimal = Field(alias="volumeNum")
    volume24hr: Decimal
    volume1wk: Decimal
    volume1mo: Decimal
    volume1yr: Decimal
    liquidity: Decimal
    liquidity_num: Decimal = Field(alias="liquidityNum")
    best_bid: Decimal | None = Field(default=None, alias="bestBid")
    best_ask: Decimal | None = Field(default=None, alias="bestAsk")
    spread: Decimal | None = Field(default=None)
    last_trade_price: Decimal | None = Field(default=None, alias="lastTradePrice")
    competitive: Decimal
    one_day_price_change: Decimal | None = Field(default=None, alias="oneDayPriceChange")
    """Of outcome 0, in USDC. Not there without a price at that time."""
    one_week_price_change: Decimal | None = Field(default=None, alias="oneWeekPriceChange")
    """Of outcome 0, in USDC. Not there without a price at that time."""
    one_month_price_change: Decimal | None = Field(default=None, alias="oneMonthPriceChange")
    """Of outcome 0, in USDC. Not there without a price at that time."""
    events: list[EventSummary]
    enable_order_book: bool
    accepting_orders: bool
    accepting_order_timestamp: datetime | None
    minimum_order_size: Decimal
    minimum_tick_size: Decimal
    condition_id: str
    question_id: str
    market_slug: str
    status: str
    market_id: Decimal
    creator: str | None
    end_date_iso: datetime | None
    game_start_time: str | None
    seconds_delay: Decimal
    fpmm: str
    maker_base_fee: Decimal
    taker_base_fee: Decimal
    notifications_enabled: bool
    neg_risk: bool
    neg_risk_market_id: str
    neg_risk_request_id: str
    rewards: BookMarketRewards
    is_50_50_outcome: bool
    tokens: list[BookMarketTokens]
    tags: list[str]
    assets_ids: list[str]
    event: BookMarketEvent
    raw_metadata: dict[str, object]
    itode: bool
    taker_order_delay_ms: Decimal
    order_age_seconds: Decimal
    screening_check_enabled: bool


class BookMarketFeeSchedule(Model):
    """Shares x rate x (p(1-p))^exponent. Not there without a fee."""

    rate: Decimal
    exponent: Decimal
    taker_only: bool = Field(alias="takerOnly")
    rebate_rate: Decimal = Field(alias="rebateRate")


class BookMarketClobRewards(Model):
    id: str
    condition_id: str = Field(alias="conditionId")
    asset_address: str = Field(alias="assetAddress")
    rewards_amount: Decimal = Field(alias="rewardsAmount")
    rewards_daily_rate: Decimal = Field(alias="rewardsDailyRate")
    start_date: date = Field(alias="startDate")
    """A day in UTC."""


class BookMarketRewards(Model):
    rates: list[BookMarketRewardsRates]
    min_size: Decimal
    max_spread: Decimal


class BookMarketRewardsRates(Model):
    asset_address: str
    rewards_daily_rate: Decimal


class BookMarketTokens(Model):
    token_id: str
    outcome: str
    price: Decimal
    winner: bool


class BookMarketEvent(Model):
    id: str
    slug: str
    title: str
    ticker: str
    description: str


class MarketDescription(Model):
    description: str


class RootSimplifiedMarketPage(Model):
    data: list[RootSimplifiedMarket]
    next_cursor: str
    """"LTE=" after the last page."""
    limit: int
    count: int


class RootSimplifiedMarket(Model):
    condition_id: str
    creator: str
    status: str
    question: str
    slug: str
    market_id: Decimal
    neg_risk: bool
    active: bool
    closed: bool
    archived: bool
    accepting_orders: bool
    tokens: list[RootSimplifiedMarketTokens]
    rewards: RootSimplifiedMarketRewards
    assets_ids: list[str]
    outcomes: list[str]
    mirror_condition_id: str


class RootSimplifiedMarketTokens(Model):
    token_id: str
    outcome: str
    price: Decimal
    winner: bool
    mirror_token_id: str


class RootSimplifiedMarketRewards(Model):
    rates: list[RootSimplifiedMarketRewardsRates]
    min_size: Decimal
    max_spread: Decimal


class RootSimplifiedMarketRewardsRates(Model):
    asset_address: str
    rewards_daily_rate: Decimal


class SimplifiedMarketPage(Model):
    data: list[SimplifiedMarket]
    next_cursor: str
    """"LTE=" after the last page."""
    limit: int
    count: int


class SimplifiedMarket(Model):
    condition_id: str
    creator: str | None
    status: str
    question: str
    slug: str
    market_id: Decimal
    neg_risk: bool
    active: bool
    closed: bool
    archived: bool
    accepting_orders: bool
    tokens: list[SimplifiedMarketTokens]
    rewards: SimplifiedMarketRewards
    assets_ids: list[str]
    outcomes: list[str]


class SimplifiedMarketTokens(Model):
    token_id: str
    outcome: str
    price: Decimal
    winner: bool


class SimplifiedMarketRewards(Model):
    rates: list[SimplifiedMarketRewardsRates]
    min_size: Decimal
    max_spread: Decimal


class SimplifiedMarketRewardsRates(Model):
    asset_address: str
    rewards_daily_rate: Decimal


class MarketOfToken(Model):
    condition_id: str
    creator: str | None
    primary_token_id: str
    secondary_token_id: str


class CompactMarket(Model):
    gst: None = Field(default=None)
    r: CompactMarketR
    c: str
    creator: str | None
    nr: bool
    t: list[CompactMarketT]
    mts: Decimal
    mos: Decimal
    fd: CompactMarketFd
    mbf: Decimal
    tbf: Decimal
    rfqe: bool
    itode: Literal[True] | None = Field(default=None)
    ibce: bool
    oas: Decimal


class CompactMarketR(Model):
    rates: list[CompactMarketRRates]
    min_size: Decimal
    max_spread: Decimal


class CompactMarketRRates(Model):
    asset_address: str
    rewards_daily_rate: Decimal


class CompactMarketT(Model):
    t: str
    o: str


class CompactMarketFd(Model):
    r: Decimal
    e: Decimal
    to: bool


class LiveTrade(Model):
    event_type: Annotated[Literal["trade"], Open]
    market: LiveTradeMarket
    user: LiveTradeUser
    side: Annotated[Literal["BUY", "SELL"], Open]
    size: Decimal
    fee_rate_bps: str
    price: Decimal
    outcome: str
    outcome_index: int
    transaction_hash: str
    timestamp: int
    """Unix seconds."""


class LiveTradeMarket(Model):
    condition_id: str
    asset_id: str
    question: str
    icon: str
    slug: str


class LiveTradeUser(Model):
    address: str
    username: str
    profile_picture: str
    optimized_profile_picture: str
    pseudonym: str


class RelatedTagsItem(Model):
    id: int
    tag_id: int = Field(alias="tagID")
    related_tag_id: int = Field(alias="relatedTagID")
    rank: int


class SeriesWithEvents(Model):
    id: str
    ticker: str
    slug: str
    title: str
    series_type: str = Field(alias="seriesType")
    recurrence: str
    image: str
    icon: str
    active: bool
    closed: bool
    archived: bool
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    events: list[EventSummary]


class SearchResponse(Model):
    events: list[SearchResponseEvents]
    tags: list[SearchResponseTags]
    pagination: SearchResponsePagination


class SearchResponseEvents(Model):
    id: str
    ticker: str
    slug: str
    title: str


class SearchResponseTags(Model):
    id: str
    label: str
    slug: str
    event_count: int


class SearchResponsePagination(Model):
    has_more: bool = Field(alias="hasMore")
    total_results: int = Field(alias="totalResults")


class FamilySearchResponse(Model):
    events: FamilyEventList
    tags: list[FamilySearchResponseTags]
    pagination: FamilySearchResponsePagination


class FamilySearchResponseTags(Model):
    id: str
    label: str
    slug: str
    event_count: int


class FamilySearchResponsePagination(Model):
    has_more: bool = Field(alias="hasMore")
    total_results: int = Field(alias="totalResults")


class MarketTypes(Model):
    market_types: list[str] = Field(alias="marketTypes")


class Position(Model):
    proxy_wallet: str = Field(alias="proxyWallet")
    asset: str
    condition_id: str = Field(alias="conditionId")
    size: Decimal
    avg_price: Decimal = Field(alias="avgPrice")
    initial_value: Decimal = Field(alias="initialValue")
    current_value: Decimal = Field(alias="currentValue")
    cash_pnl: Decimal = Field(alias="cashPnl")
    percent_pnl: Decimal = Field(alias="percentPnl")
    total_bought: Decimal = Field(alias="totalBought")
    realized_pnl: Decimal = Field(alias="realizedPnl")
    percent_realized_pnl: Decimal = Field(alias="percentRealizedPnl")
    cur_price: Decimal = Field(alias="curPrice")
    redeemable: bool
    mergeable: bool
    negative_risk: bool = Field(alias="negativeRisk")
    title: str
    slug: str
    icon: str
    event_slug: str = Field(alias="eventSlug")
    outcome: str
    outcome_index: int = Field(alias="outcomeIndex")
    opposite_outcome: str = Field(alias="oppositeOutcome")
    opposite_asset: str = Field(alias="oppositeAsset")
    timestamp: int
    end_date: datetime = Field(alias="endDate")


class ClosedPosition(Model):
    proxy_wallet: str = Field(alias="proxyWallet")
    asset: str
    condition_id: str = Field(alias="conditionId")
    avg_price: Decimal = Field(alias="avgPrice")
    total_bought: Decimal = Field(alias="totalBought")
    realized_pnl: Decimal = Field(alias="realizedPnl")
    cur_price: Decimal = Field(alias="curPrice")
    timestamp: int
    title: str
    slug: str
    icon: str
    event_slug: str = Field(alias="eventSlug")
    outcome: str
    outcome_index: int = Field(alias="outcomeIndex")
    opposite_outcome: str = Field(alias="oppositeOutcome")
    opposite_asset: str = Field(alias="oppositeAsset")
    end_date: datetime = Field(alias="endDate")


class WalletValueItem(Model):
    user: str
    value: Decimal


class WalletTraded(Model):
    user: str
    traded: int
    """Markets the wallet traded in."""


class Activity(Model):
    proxy_wallet: str = Field(alias="proxyWallet")
    name: str
    pseudonym: str
    bio: str
    profile_image: str = Field(alias="profileImage")
    profile_image_optimized: str = Field(alias="profileImageOptimized")
    timestamp: int
    condition_id: str = Field(alias="conditionId")
    type: str
    size: Decimal
    usdc_size: Decimal = Field(alias="usdcSize")
    transaction_hash: str = Field(alias="transactionHash")
    price: Decimal
    asset: str
    side: Annotated[Literal["BUY", "SELL", ""], Open]
    outcome_index: int = Field(alias="outcomeIndex")
    outcome: str
    title: str
    slug: str
    icon: str
    event_slug: str = Field(alias="eventSlug")


class PublicTrade(Model):
    proxy_wallet: str = Field(alias="proxyWallet")
    name: str
    pseudonym: str
    bio: str
    profile_image: str = Field(alias="profileImage")
    profile_image_optimized: str = Field(alias="profileImageOptimized")
    side: Annotated[Literal["BUY", "SELL"], Open]
    asset: str
    condition_id: str = Field(alias="conditionId")
    size: Decimal
    price: Decimal
    usdc_size: Decimal = Field(alias="usdcSize")
    timestamp: int
    transaction_hash: str = Field(alias="transactionHash")
    title: str
    slug: str
    icon: str
    event_slug: str = Field(alias="eventSlug")
    outcome: str
    outcome_index: int = Field(alias="outcomeIndex")


class OpenInterestItem(Model):
    market: str
    """Condition id, or `GLOBAL`."""
    value: Decimal


class LiveVolumeItem(Model):
    total: Decimal
    markets: list[LiveVolumeItemMarkets]


class LiveVolumeItemMarkets(Model):
    market: str
    value: Decimal


class HolderGroup(Model):
    token: str
    holders: list[Holder]


class Holder(Model):
    proxy_wallet: str = Field(alias="proxyWallet")
    bio: str
    asset: str
    pseudonym: str
    amount: Decimal
    display_username_public: bool = Field(alias="displayUsernamePublic")
    outcome_index: int = Field(alias="outcomeIndex")
    name: str
    profile_image: str = Field(alias="profileImage")
    profile_image_optimized: str = Field(alias="profileImageOptimized")


class LeaderboardEntry(Model):
    rank: int
    proxy_wallet: str = Field(alias="proxyWallet")
    user_name: str = Field(alias="userName")
    vol: Decimal
    pnl: Decimal
    profile_image: str = Field(alias="profileImage")
    x_username: str | None = Field(alias="xUsername")
    verified_badge: bool = Field(alias="verifiedBadge")


class MarketPositionGroupsItem(Model):
    token: str
    positions: list[MarketPosition]


class MarketPosition(Model):
    proxy_wallet: str = Field(alias="proxyWallet")
    name: str
    profile_image: str = Field(alias="profileImage")
    verified: bool
    asset: str
    condition_id: str = Field(alias="conditionId")
    avg_price: Decimal = Field(alias="avgPrice")
    size: Decimal
    curr_price: Decimal = Field(alias="currPrice")
    current_value: Decimal = Field(alias="currentValue")
    cash_pnl: Decimal = Field(alias="cashPnl")
    total_bought: Decimal = Field(alias="totalBought")
    realized_pnl: Decimal = Field(alias="realizedPnl")
    total_pnl: Decimal = Field(alias="totalPnl")
    outcome: str
    outcome_index: int = Field(alias="outcomeIndex")


class BuilderBoardItem(Model):
    rank: int
    builder: str
    volume: Decimal
    active_users: int = Field(alias="activeUsers")
    verified: bool
    builder_logo: str = Field(alias="builderLogo")


class BuilderBoardDaysItem(Model):
    dt: datetime
    rank: int
    builder: str
    volume: Decimal
    active_users: int = Field(alias="activeUsers")
    verified: bool
    builder_logo: str = Field(alias="builderLogo")


class BuilderTradePage(Model):
    data: list[BuilderTrade]
    next_cursor: str
    """"LTE=" after the last page."""
    limit: int
    count: int


class BuilderTrade(Model):
    id: str
    taker_order_id: str
    market: str
    asset_id: str
    side: Annotated[Literal["BUY", "SELL"], Open]
    size: Decimal
    fee_rate_bps: str
    price: Decimal
    status: str
    outcome: str
    maker_address: str
    owner: str
    transaction_hash: str
    match_time: datetime
    last_update: datetime
    type: Annotated[Literal["TAKER", "MAKER"], Open]
    bucket_index: int
    maker_orders: list[BuilderTradeMakerOrders]
    trade_type: Annotated[Literal["TAKER", "MAKER"], Open] = Field(alias="tradeType")
    taker_order_hash: str = Field(alias="takerOrderHash")
    builder: str
    size_usdc: Decimal = Field(alias="sizeUsdc")
    outcome_index: int = Field(alias="outcomeIndex")
    maker: str
    fee: Decimal
    fee_usdc: Decimal = Field(alias="feeUsdc")
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")


class BuilderTradeMakerOrders(Model):
    order_id: str
    maker_address: str
    owner: str
    matched_amount: Decimal
    fee_rate_bps: str
    price: Decimal
    asset_id: str
    outcome: str
    side: str


class BuilderDaysItem(Model):
    date: date
    volume: Decimal
    users: int


class BuilderFees(Model):
    builder_maker_flat_fee_bps: Annotated[Literal[0], Open]
    builder_taker_fee_share_bps: Annotated[Literal[0], Open]
    builder_maker_fee_rate_bps: Annotated[Literal[0], Open]
    builder_taker_fee_rate_bps: Annotated[Literal[0], Open]


class RewardEntryPage(Model):
    data: list[RewardEntry]
    next_cursor: str
    """"LTE=" after the last page."""
    limit: int
    count: int


class RewardEntry(Model):
    condition_id: str
    rewards_max_spread: Decimal
    rewards_min_size: Decimal
    rewards_config: list[RewardEntryRewardsConfig]
    sponsored_daily_rate: Decimal
    sponsors_count: int
    native_daily_rate: Decimal
    total_daily_rate: Decimal


class RewardEntryRewardsConfig(Model):
    id: int
    asset_address: str
    start_date: date
    end_date: date
    rate_per_day: Decimal
    total_rewards: Decimal


class RewardMarketPage(Model):
    data: list[RewardMarket]
    next_cursor: str
    """"LTE=" after the last page."""
    limit: int
    count: int


class RewardMarket(Model):
    condition_id: str
    rewards_max_spread: Decimal
    rewards_min_size: Decimal
    rewards_config: list[RewardMarketRewardsConfig]
    sponsored_daily_rate: Decimal
    sponsors_count: int
    native_daily_rate: Decimal
    total_daily_rate: Decimal
    question: str
    market_slug: str
    event_slug: str
    image: str
    market_competitiveness: Decimal
    market_id: str
    event_id: str
    group_item_title: str
    created_at: datetime
    volume_24hr: Decimal
    spread: Decimal
    one_day_price_change: Decimal
    tokens: list[RewardMarketTokens]


class RewardMarketRewardsConfig(Model):
    id: int
    asset_address: str
    start_date: date
    end_date: date
    rate_per_day: Decimal
    total_rewards: Decimal


class RewardMarketTokens(Model):
    token_id: str
    outcome: str
    price: Decimal


class UserRewardPage(Model):
    data: list[dict[str, object]]
    next_cursor: str
    """"LTE=" after the last page."""
    limit: int
    count: int


class Rebate(Model):
    date: date
    condition_id: str
    asset_address: str
    maker_address: str
    rebated_fees_usdc: Decimal
    status: Annotated[Literal["estimated", "closed", "below_minimum"], Open]


class CommentWritten(Model):
    id: str
    status: Annotated[Literal["ok"], Open]


class Comment(Model):
    id: str
    body: str
    parent_entity_type: str | None = Field(alias="parentEntityType")
    parent_entity_id: int | None = Field(alias="parentEntityID")
    parent_comment_id: str | None = Field(alias="parentCommentID")
    user_address: str = Field(alias="userAddress")
    reply_address: str = Field(alias="replyAddress")
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    profile: CommentAuthor
    reactions: list[CommentReaction]
    report_count: int = Field(alias="reportCount")
    reaction_count: int = Field(alias="reactionCount")
    reply_count: int = Field(alias="replyCount")
    replies: list[CommentReply]


class CommentAuthor(Model):
    name: str
    pseudonym: str
    bio: str
    proxy_wallet: str = Field(alias="proxyWallet")
    profile_image: str = Field(alias="profileImage")
    display_username_public: bool = Field(alias="displayUsernamePublic")
    base_address: str = Field(alias="baseAddress")
    is_mod: bool | None = Field(default=None, alias="isMod")
    """False: operators moderate, and have no wallet."""
    is_creator: bool = Field(alias="isCreator")
    """Whether the wallet made a market."""
    profile_image_optimized: dict[str, object] | None = Field(
        default=None, alias="profileImageOptimized"
    )
    positions: list[CommentAuthorPositions]


class CommentAuthorPositions(Model):
    token_id: str = Field(alias="tokenId")
    position_size: str = Field(alias="positionSize")


class CommentReaction(Model):
    id: str
    comment_id: str | int = Field(alias="commentID")
    """A number under the mount, whose clients take nothing else."""
    reaction_type: str = Field(alias="reactionType")
    icon: str
    user_address: str = Field(alias="userAddress")
    created_at: str = Field(alias="createdAt")
    profile: CommentProfile


class CommentProfile(Model):
    name: str
    pseudonym: str
    bio: str
    proxy_wallet: str = Field(alias="proxyWallet")
    profile_image: str = Field(alias="profileImage")
    display_username_public: bool = Field(alias="displayUsernamePublic")
    base_address: str = Field(alias="baseAddress")
    is_mod: bool | None = Field(default=None, alias="isMod")
    """False: operators moderate, and have no wallet."""
    is_creator: bool = Field(alias="isCreator")
    """Whether the wallet made a market."""
    profile_image_optimized: dict[str, object] | None = Field(
        default=None, alias="profileImageOptimized"
    )


class CommentReply(Model):
    id: str
    body: str
    parent_entity_type: str | None = Field(alias="parentEntityType")
    parent_entity_id: int | None = Field(alias="parentEntityID")
    parent_comment_id: str | None = Field(alias="parentCommentID")
    user_address: str = Field(alias="userAddress")
    reply_address: str = Field(alias="replyAddress")
    created_at: datetime = Field(alias="createdAt")
    updated_at: datetime = Field(alias="updatedAt")
    profile: CommentAuthor
    reactions: list[CommentReaction]
    report_count: int = Field(alias="reportCount")
    reaction_count: int = Field(alias="reactionCount")
    reply_count: int = Field(alias="replyCount")
    replies: list[dict[str, object]]


class ProfileStored(Model):
    proxy_wallet: str = Field(alias="proxyWallet")
    name: str
    bio: str
    profile_image: str = Field(alias="profileImage")
    x_username: str = Field(alias="xUsername")
    display_username_public: bool = Field(alias="displayUsernamePublic")


class CommentPage(Model):
    comments: CommentList
    next_cursor: str | None = Field(default=None)
    """Missing on the last page."""


class CommentCount(Model):
    count: int


class ProfileResponse(Model):
    created_at: datetime | None = Field(default=None, alias="createdAt")
    """ISO 8601, milliseconds, UTC."""
    name: str
    pseudonym: str
    bio: str
    proxy_wallet: str = Field(alias="proxyWallet")
    profile_image: str = Field(alias="profileImage")
    display_username_public: bool = Field(alias="displayUsernamePublic")
    users: list[ProfileResponseUsers]
    x_username: str | None = Field(default=None, alias="xUsername")
    verified_badge: bool = Field(alias="verifiedBadge")


class ProfileResponseUsers(Model):
    id: str
    creator: bool
    mod: bool


class SignedOrder(Model):
    """The order struct as signed, plus fields that are not signed."""

    salt: str | int
    maker: str
    signer: str
    taker: str | None = Field(default=None)
    token_id: str = Field(alias="tokenId")
    condition_id: str | None = Field(default=None, alias="conditionId")
    maker_amount: str = Field(alias="makerAmount")
    taker_amount: str = Field(alias="takerAmount")
    side: Annotated[Literal["BUY", "SELL"], Open]
    signature_type: int = Field(alias="signatureType")
    timestamp: str
    metadata: str | None = Field(default=None)
    builder: str | None = Field(default=None)
    expiration: str | int | None = Field(default=None)
    signature: str


OkResponse: TypeAlias = Annotated[Literal["OK"], Open]

MarketList: TypeAlias = list[MarketResponse]

FamilyMarketList: TypeAlias = list[FamilyMarketResponse]

ScoringByOrder: TypeAlias = dict[str, bool]

PricesResponse: TypeAlias = dict[str, PricesResponseItem]

DecimalsByToken: TypeAlias = dict[str, Decimal]

LastTradesPrices: TypeAlias = list[LastTradesPricesItem]

EventList: TypeAlias = list[EventListItem]

FamilyEventList: TypeAlias = list[FamilyEventListItem]

CreatorList: TypeAlias = list[Creator]

TagList: TypeAlias = list[CatalogTagResponse]

LiveActivity: TypeAlias = list[LiveTrade]

RelatedTags: TypeAlias = list[RelatedTagsItem]

SeriesList: TypeAlias = list[SeriesWithEvents]

EmptyList: TypeAlias = list[dict[str, object]]

Positions: TypeAlias = list[Position]

ClosedPositions: TypeAlias = list[ClosedPosition]

WalletValue: TypeAlias = list[WalletValueItem]

Activities: TypeAlias = list[Activity]

PublicTrades: TypeAlias = list[PublicTrade]

OpenInterest: TypeAlias = list[OpenInterestItem]

LiveVolume: TypeAlias = list[LiveVolumeItem]

HolderGroups: TypeAlias = list[HolderGroup]

Leaderboard: TypeAlias = list[LeaderboardEntry]

MarketPositionGroups: TypeAlias = list[MarketPositionGroupsItem]

BuilderBoard: TypeAlias = list[BuilderBoardItem]

BuilderBoardDays: TypeAlias = list[BuilderBoardDaysItem]

BuilderDays: TypeAlias = list[BuilderDaysItem]

UserRewardTotals: TypeAlias = list[dict[str, object]]

UserRewardPercentages: TypeAlias = dict[str, object]

Rebates: TypeAlias = list[Rebate]

CommentList: TypeAlias = list[Comment]
