"""Messages of the channels other than `book`, as the service declares them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from exchange_client._model import Model, Open, parse
from exchange_client.models import Activity

from .frames import Json, LogPosition

BuySell: TypeAlias = Literal["BUY", "SELL"]
Mode: TypeAlias = Annotated[Literal["OPEN", "POST_ONLY", "CANCEL_ONLY", "HALTED", "RESOLVED"], Open]
TimeInForceText: TypeAlias = Annotated[Literal["GTC", "GTD", "FOK", "FAK"], Open]


class Message(Model):
    """What all messages have."""

    seq: int
    """Counts the messages of the channel and key (`own`: of the partition) since the log began."""
    at: LogPosition
    time: datetime
    """Clock of the partition, UTC."""
    gap: bool = False
    """Messages before this one are missing.

    In snapshots of `book`, `best`, `orders` and `markets`, which stand for what is missing; of the
    other channels only with `allow_gaps`.
    """


class PriceLevel(Model):
    price: Decimal
    size: Decimal


class SnapshotPart(Message):
    """A snapshot with many items comes in parts with the same `seq`.

    Part 0 replaces what was known, each later one is added; it is whole with the part without `more`.
    """

    part: int = 0
    more: bool = False


class BestMessage(Message):
    """Best prices of a token; None where a side is empty."""

    market: str
    token: str
    merged: bool = False
    """Stands for several changes."""
    bid: PriceLevel | None
    ask: PriceLevel | None


class RestingOrder(Model):
    """In terms of token 0 of the market."""

    order: str
    """Names the order in this channel; means nothing elsewhere."""
    side: BuySell
    price: Decimal
    size: Decimal


class OrdersSnapshot(SnapshotPart):
    """All resting orders of a market, oldest first: within a price this is their priority."""

    market: str
    orders: list[RestingOrder]


class OrderChange(Message):
    """A resting order came, became smaller or left."""

    market: str
    action: Annotated[Literal["add", "change", "remove"], Open]
    order: str
    side: BuySell | None = None
    """None, as price and size, when it left."""
    price: Decimal | None = None
    size: Decimal | None = None
    """What rests now."""


class TradeMessage(Message):
    """A fill."""

    market: str
    id: str
    """As in the own trades."""
    transaction_hash: str
    match: Annotated[Literal["COMPLEMENTARY", "MINT", "MERGE"], Open]
    token: str
    side: BuySell
    """Of the taker, in terms of `token`."""
    price: Decimal
    size: Decimal
    maker_token: str
    maker_price: Decimal
    fee_rate_bps: int


class MarketMessage(Message):
    """Rules, mode and payouts of a market from here on."""

    market: str
    merged: bool = False
    """Stands for several changes."""
    action: Annotated[Literal["listed", "changed", "resolved"], Open] | None = None
    """None in a snapshot."""
    tokens: list[str]
    mode: Mode
    trading_mode: Mode
    """That of the exchange: a market takes what both modes allow."""
    tick_size: Decimal
    min_order_size: Decimal
    fee_rate_bps: int
    taker_delay_ms: int
    payouts: list[Decimal] | None
    """USDC that each token pays; None before the resolution."""


class ActivityMessage(Message):
    """One row of `GET /activity`."""

    market: str
    activity: Activity


class StreamComment(Model):
    parent_type: Annotated[Literal["Event", "Series", "market"], Open]
    parent_id: str
    reply_to: str
    """Empty at the top of a thread."""
    author: str
    name: str
    body: str
    created_at: datetime
    reactions: int


class CommentMessage(Message):
    """A comment was posted, liked, hidden, shown or removed; `seq` is not dense."""

    event: str
    action: Annotated[Literal["posted", "deleted", "reacted", "hidden", "shown"], Open]
    comment_id: str
    comment: StreamComment | None
    """The comment as it is now; None when it is not shown."""


class OwnOpenOrder(Model):
    id: str
    api_key: str
    market: str
    token: str
    side: BuySell
    type: TimeInForceText
    price: Decimal
    original_size: Decimal
    resting: Decimal | None
    """Shares that rest; None while delayed."""
    expires_at: int
    """Unix milliseconds; 0 without an end."""
    accepted_at: datetime


class OwnBalanceSums(Model):
    """USDC that one partition added since its first record.

    The balance of the wallet is the sum of all partitions and of its transfers.
    """

    free: Decimal
    held: Decimal


class OwnPositionSize(Model):
    market: str
    token: str
    size: Decimal


class OwnSnapshot(SnapshotPart):
    """What one partition knows of the wallet."""

    kind: Literal["snapshot"] = "snapshot"
    wallet: str
    orders: list[OwnOpenOrder]
    balance: OwnBalanceSums
    positions: list[OwnPositionSize]


class OwnOrderTerms(Model):
    api_key: str
    token: str
    side: BuySell
    type: TimeInForceText
    price: Decimal
    original_size: Decimal
    expires_at: int
    status: Annotated[Literal["LIVE", "MATCHED", "CANCELED", "DELAYED"], Open]


class OwnOrderEvent(Message):
    """An own order was placed, refused, delayed, canceled, or filled as a maker."""

    kind: Literal["order"]
    wallet: str
    event: Annotated[Literal["placed", "refused", "delayed", "canceled", "filled"], Open]
    id: str
    market: str
    resting: Decimal | None
    """Shares that rest now; None: it never rested."""
    reason: str | None
    """Code of the refusal, or reason of the cancel."""
    order: OwnOrderTerms | None
    """Its terms, where it was placed or delayed."""


class OwnFill(Message):
    """A fill of an own order, in terms of its token."""

    kind: Literal["fill"]
    wallet: str
    id: str
    role: Annotated[Literal["TAKER", "MAKER"], Open]
    order: str
    market: str
    token: str
    side: BuySell
    price: Decimal
    size: Decimal
    fee: Decimal


class OwnBalance(Message):
    """New sums of the partition."""

    kind: Literal["balance"]
    wallet: str
    balance: OwnBalanceSums


class OwnPosition(Message):
    """New totals of both tokens of a market."""

    kind: Literal["position"]
    wallet: str
    market: str
    positions: list[OwnPositionSize]


class OwnTransfers(Model):
    """Sum of all deposits and withdrawals of the wallet, USDC. It has no `seq`: the newest one holds."""

    kind: Literal["transfers"]
    wallet: str
    at: LogPosition
    time: datetime
    total: Decimal


class OwnSession(Model):
    """The session of an API key of the wallet. It has no `seq`: the newest one holds."""

    kind: Literal["session"]
    wallet: str
    api_key: str
    sequence: int
    phase: Annotated[Literal["LIVE", "MISSED", "ENDED"], Open]
    """LIVE: heartbeats come. MISSED: orders are being canceled. ENDED: they are."""
    heartbeat_id: str
    time: datetime
    deadline: datetime | None
    """When orders are canceled unless a heartbeat comes; None unless LIVE."""


OwnEvent: TypeAlias = (
    OwnSnapshot | OwnOrderEvent | OwnFill | OwnBalance | OwnPosition | OwnTransfers | OwnSession
)

_own_kinds: dict[str, type[OwnEvent]] = {
    "order": OwnOrderEvent,
    "fill": OwnFill,
    "balance": OwnBalance,
    "position": OwnPosition,
    "transfers": OwnTransfers,
    "session": OwnSession,
}


def own_event(frame: Json) -> OwnEvent | None:
    """A message of `own`; None for a kind that this version does not know."""
    if frame["type"] == "snapshot":
        return parse(OwnSnapshot, frame)
    kind = _own_kinds.get(str(frame.get("kind")))
    return None if kind is None else parse(kind, frame)
