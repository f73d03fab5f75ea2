"""The book of a token, folded out of a snapshot and absolute deltas."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from exchange_client.amounts import micro_text, parse_micro, parse_price, price_text

from .frames import Json, LogPosition, int_of, position_of, rows_of, text_of, time_of


@dataclass(frozen=True, slots=True)
class Level:
    """Shares that rest at a price; 0 in a change means that the level is gone."""

    price: Decimal
    size: Decimal


class BookSide:
    """The levels of a side, as integers inside: price in 1/10000 USDC, size in micro-shares."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._prices: list[int] = []

    def set(self, price: int, size_micro: int) -> None:
        if size_micro == 0:
            if self._sizes.pop(price, None) is not None:
                del self._prices[bisect_left(self._prices, price)]
            return
        if price not in self._sizes:
            insort(self._prices, price)
        self._sizes[price] = size_micro

    def clear(self) -> None:
        self._sizes.clear()
        self._prices.clear()

    def __len__(self) -> int:
        return len(self._prices)

    def ascending(self) -> Iterator[tuple[int, int]]:
        """Price and size of each level from the lowest price on."""
        return ((price, self._sizes[price]) for price in self._prices)

    def descending(self) -> Iterator[tuple[int, int]]:
        return ((price, self._sizes[price]) for price in reversed(self._prices))


class Book:
    """The book of a token as of `seq`; the best level of a side is its last, as in `GET /book`."""

    def __init__(self, token_id: str) -> None:
        self.token_id = token_id
        self.market = ""
        self.seq = 0
        self._bids = BookSide()
        self._asks = BookSide()

    @property
    def bids(self) -> list[Level]:
        """From low to high."""
        return [_level(price, size) for price, size in self._bids.ascending()]

    @property
    def asks(self) -> list[Level]:
        """From high to low."""
        return [_level(price, size) for price, size in self._asks.descending()]

    @property
    def best_bid(self) -> Level | None:
        return next((_level(*one) for one in self._bids.descending()), None)

    @property
    def best_ask(self) -> Level | None:
        return next((_level(*one) for one in self._asks.ascending()), None)

    @property
    def midpoint(self) -> Decimal | None:
        """Halfway between best bid and best ask; None when a side is empty."""
        bid, ask = self.best_bid, self.best_ask
        return None if bid is None or ask is None else (bid.price + ask.price) / 2

    def apply(self, frame: Json) -> tuple[list[Level], list[Level]]:
        """Folds a snapshot or delta; returns the levels of it, bids and asks."""
        if frame["type"] == "snapshot":
            self._bids.clear()
            self._asks.clear()
        self.market = text_of(frame, "market")
        self.seq = int_of(frame, "seq")
        changes = rows_of(frame, "levels")
        bids = [*rows_of(frame, "bids"), *(row for row in changes if row["side"] == "BUY")]
        asks = [*rows_of(frame, "asks"), *(row for row in changes if row["side"] == "SELL")]
        return _set_all(self._bids, bids), _set_all(self._asks, asks)

    def hash(self, facts: Json) -> str:
        """The hash of `GET /book` for this book: SHA-1 of its JSON with an empty `hash` (conventions.md 5.1).

        `facts` has what the levels do not say: `timestamp`, `min_order_size`, `tick_size`,
        `neg_risk`, `last_trade_price`.
        """
        bids = ",".join(_level_json(*one) for one in self._bids.ascending())
        asks = ",".join(_level_json(*one) for one in self._asks.descending())
        text = (
            f'{{"market":"{self.market}","asset_id":"{self.token_id}"'
            f',"timestamp":"{facts["timestamp"]}","hash":""'
            f',"bids":[{bids}],"asks":[{asks}]'
            f',"min_order_size":"{facts["min_order_size"]}","tick_size":"{facts["tick_size"]}"'
            f',"neg_risk":{"true" if facts["neg_risk"] else "false"}'
            f',"last_trade_price":"{facts["last_trade_price"]}"}}'
        )
        return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class BookUpdate:
    """A change of a book, and the book after it."""

    book: Book
    """The same object in every update of an iterator; it changes when the next update is read."""
    bids: list[Level]
    """New totals of the bids that changed; all levels in a snapshot."""
    asks: list[Level]
    seq: int
    at: LogPosition
    time: datetime
    is_snapshot: bool
    merged: bool
    """Stands for several changes: the service merged them while this client read slowly."""
    gap: bool
    """Updates before this one are missing; the book itself is right again."""


def book_update(book: Book, frame: Json) -> BookUpdate:
    bids, asks = book.apply(frame)
    return BookUpdate(
        book=book,
        bids=bids,
        asks=asks,
        seq=book.seq,
        at=position_of(frame),
        time=time_of(frame),
        is_snapshot=frame["type"] == "snapshot",
        merged=frame.get("merged") is True,
        gap=frame.get("gap") is True,
    )


def _set_all(side: BookSide, rows: list[Json]) -> list[Level]:
    levels: list[Level] = []
    for row in rows:
        price, size_micro = parse_price(text_of(row, "price")), parse_micro(text_of(row, "size"))
        side.set(price, size_micro)
        levels.append(_level(price, size_micro))
    return levels


def _level(price: int, size_micro: int) -> Level:
    return Level(Decimal(price_text(price)), Decimal(micro_text(size_micro)))


def _level_json(price: int, size_micro: int) -> str:
    return f'{{"price":"{price_text(price)}","size":"{micro_text(size_micro)}"}}'
