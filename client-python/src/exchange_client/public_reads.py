"""Public reads: books, prices, history, catalog, reports, comments."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal, TypeAlias

from .amounts import DecimalLike
from .connection import Connection
from .eip712 import Side, SigningDomain
from .http import HttpRequest
from .models import (
    Activity,
    BatchPricesHistory,
    BookSnapshot,
    CandlesResponse,
    CandlesResponseCandles,
    CatalogTagResponse,
    ClosedPosition,
    Comment,
    CommentPage,
    EventListItem,
    EventPage,
    EventResponse,
    FeeRate,
    HistoryPoint,
    HolderGroup,
    LastTradePrice,
    LastTradesPricesItem,
    LeaderboardEntry,
    LiveVolumeItem,
    MarketPage,
    MarketResponse,
    MidpointResponse,
    NegRiskResponse,
    OpenInterestItem,
    PastBookResponse,
    Position,
    PriceResponse,
    PricesHistory,
    PricesResponseItem,
    ProfileResponse,
    PublicTrade,
    SearchResponse,
    SpreadResponse,
    StatusResponse,
    TickSizeResponse,
    WalletValueItem,
)
from .paging import every_keyset_row, every_offset_row
from .pinned_domain import published_domain

HistoryInterval: TypeAlias = Literal["1m", "5m", "15m", "1h", "6h", "1d", "1w", "max", "all"]
CandleInterval: TypeAlias = Literal["1m", "5m", "1h", "1d"]
ParentType: TypeAlias = Literal["Event", "Series", "market"]

_offset_max = 10_000
_page_rows = 100


class PublicReads:
    """Reads that need no key. Filters that are None are left out."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # Service

    async def time(self) -> int:
        """The time of the server, Unix seconds."""
        return await self._connection.read(int, "/time")

    async def status(self) -> StatusResponse:
        """How far each projection is (conventions.md 1.5)."""
        return await self._connection.read(StatusResponse, "/status")

    # Books and prices

    async def book(self, token_id: str) -> BookSnapshot:
        """Bids from low to high, asks from high to low: the best level is the last."""
        return await self._connection.read(BookSnapshot, "/book", {"token_id": token_id})

    async def books(self, token_ids: Sequence[str]) -> list[BookSnapshot]:
        """Of up to 500 tokens."""
        sent = HttpRequest("POST", "/books", body=_token_items(token_ids))
        return await self._connection.send(list[BookSnapshot], sent)

    async def book_at(self, token_id: str, at: datetime | int) -> BookSnapshot:
        """The book as it was at a moment; an `int` is Unix milliseconds."""
        query = {"token_id": token_id, "at": _moment(at)}
        return await self._connection.read(BookSnapshot, "/book", query)

    async def orders_at(self, token_id: str, at: datetime | int) -> PastBookResponse:
        """Every resting order at a moment."""
        query = {"token_id": token_id, "at": _moment(at), "level": "3"}
        return await self._connection.read(PastBookResponse, "/book", query)

    async def price(self, token_id: str, side: Side) -> Decimal:
        """BUY is the best ask. Raises `ExchangeError` 404 when that side is empty."""
        query = {"token_id": token_id, "side": side}
        return (await self._connection.read(PriceResponse, "/price", query)).price

    async def prices(self, token_ids: Sequence[str]) -> dict[str, PricesResponseItem]:
        """Best prices of up to 500 tokens, both sides."""
        body = [
            {"token_id": token_id, "side": side}
            for token_id in token_ids
            for side in ("BUY", "SELL")
        ]
        sent = HttpRequest("POST", "/prices", body=body)
        return await self._connection.send(dict[str, PricesResponseItem], sent)

    async def midpoint(self, token_id: str) -> Decimal:
        """Raises `ExchangeError` 404 when a side is empty."""
        return (
            await self._connection.read(MidpointResponse, "/midpoint", {"token_id": token_id})
        ).mid

    async def midpoints(self, token_ids: Sequence[str]) -> dict[str, Decimal]:
        sent = HttpRequest("POST", "/midpoints", body=_token_items(token_ids))
        return await self._connection.send(dict[str, Decimal], sent)

    async def spread(self, token_id: str) -> Decimal:
        answer = await self._connection.read(SpreadResponse, "/spread", {"token_id": token_id})
        return answer.spread

    async def spreads(self, token_ids: Sequence[str]) -> dict[str, Decimal]:
        sent = HttpRequest("POST", "/spreads", body=_token_items(token_ids))
        return await self._connection.send(dict[str, Decimal], sent)

    async def last_trade_price(self, token_id: str) -> LastTradePrice:
        query = {"token_id": token_id}
        return await self._connection.read(LastTradePrice, "/last-trade-price", query)

    async def last_trades_prices(self, token_ids: Sequence[str]) -> list[LastTradesPricesItem]:
        sent = HttpRequest("POST", "/last-trades-prices", body=_token_items(token_ids))
        return await self._connection.send(list[LastTradesPricesItem], sent)

    async def tick_size(self, token_id: str) -> Decimal:
        answer = await self._connection.read(TickSizeResponse, "/tick-size", {"token_id": token_id})
        return answer.minimum_tick_size

    async def signing_domain(self) -> SigningDomain:
        """What this installation publishes as the domain of signatures."""
        return await published_domain(self._connection)

    async def neg_risk(self, token_id: str) -> bool:
        """Whether orders of a token are signed for the neg-risk contract."""
        answer = await self._connection.read(NegRiskResponse, "/neg-risk", {"token_id": token_id})
        return answer.neg_risk

    async def fee_rate(self, token_id: str | None = None) -> FeeRate:
        return await self._connection.read(FeeRate, "/fee-rate", {"token_id": token_id})

    # History

    async def prices_history(
        self,
        token_id: str,
        *,
        interval: HistoryInterval | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
        fidelity: int | None = None,
    ) -> list[HistoryPoint]:
        """Midpoints over time; `interval` excludes start and end (Unix seconds); `fidelity` in minutes."""
        query = {
            "market": token_id,
            "interval": interval,
            "startTs": _text(start_ts),
            "endTs": _text(end_ts),
            "fidelity": _text(fidelity),
        }
        return (await self._connection.read(PricesHistory, "/prices-history", query)).history

    async def batch_prices_history(
        self,
        token_ids: Sequence[str],
        *,
        interval: HistoryInterval | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
        fidelity: int | None = None,
    ) -> dict[str, list[HistoryPoint]]:
        """The same of up to 20 tokens."""
        facts = {
            "markets": list(token_ids),
            "interval": interval,
            "start_ts": start_ts,
            "end_ts": end_ts,
            "fidelity": fidelity,
        }
        body = {name: value for name, value in facts.items() if value is not None}
        sent = HttpRequest("POST", "/batch-prices-history", body=body)
        return (await self._connection.send(BatchPricesHistory, sent)).history

    async def candles(
        self,
        token_id: str,
        *,
        interval: CandleInterval = "1m",
        start: int | None = None,
        end: int | None = None,
        limit: int | None = None,
    ) -> list[CandlesResponseCandles]:
        """Trades of a token in buckets; start and end in Unix seconds, up to 1,000 buckets."""
        query = {
            "token_id": token_id,
            "interval": interval,
            "start": _text(start),
            "end": _text(end),
            "limit": _text(limit),
        }
        return (await self._connection.read(CandlesResponse, "/candles", query)).candles

    # Catalog

    def events(
        self,
        *,
        active: bool | None = None,
        closed: bool | None = None,
        tag_slug: str | None = None,
        series_slug: str | None = None,
        slug: Sequence[str] | None = None,
        order: str | None = None,
        ascending: bool | None = None,
    ) -> AsyncIterator[EventListItem]:
        """Events with their markets, page by page with a cursor that stays in place."""
        query = {
            "active": _text(active),
            "closed": _text(closed),
            "tag_slug": tag_slug,
            "series_slug": series_slug,
            "slug": _list(slug),
            "order": order,
            "ascending": _text(ascending),
            "limit": str(_page_rows),
        }

        async def read(cursor: str | None) -> tuple[Sequence[EventListItem], str | None]:
            page = await self._connection.read(
                EventPage, "/events/keyset", {**query, "after_cursor": cursor}
            )
            return page.events, page.next_cursor

        return every_keyset_row(read)

    async def event(self, id: str | int) -> EventResponse:  # noqa: A002
        return await self._connection.read(EventResponse, f"/events/{id}")

    async def event_by_slug(self, slug: str) -> EventResponse:
        return await self._connection.read(EventResponse, f"/events/slug/{slug}")

    def markets(
        self,
        *,
        active: bool | None = None,
        closed: bool | None = None,
        tag_slug: str | None = None,
        event_slug: str | None = None,
        slug: Sequence[str] | None = None,
        condition_ids: Sequence[str] | None = None,
        clob_token_ids: Sequence[str] | None = None,
        order: str | None = None,
        ascending: bool | None = None,
    ) -> AsyncIterator[MarketResponse]:
        """Markets, page by page with a cursor that stays in place."""
        query = {
            "active": _text(active),
            "closed": _text(closed),
            "tag_slug": tag_slug,
            "event_slug": event_slug,
            "slug": _list(slug),
            "condition_ids": _list(condition_ids),
            "clob_token_ids": _list(clob_token_ids),
            "order": order,
            "ascending": _text(ascending),
            "limit": str(_page_rows),
        }

        async def read(cursor: str | None) -> tuple[Sequence[MarketResponse], str | None]:
            page = await self._connection.read(
                MarketPage, "/markets/keyset", {**query, "after_cursor": cursor}
            )
            return page.markets, page.next_cursor

        return every_keyset_row(read)

    async def market(self, id: str | int) -> MarketResponse:  # noqa: A002
        """A market by its number."""
        return await self._connection.read(MarketResponse, f"/markets/{id}")

    async def market_by_slug(self, slug: str) -> MarketResponse:
        return await self._connection.read(MarketResponse, f"/markets/slug/{slug}")

    async def tags(self) -> list[CatalogTagResponse]:
        """The first hundred tags."""
        return await self._connection.read(
            list[CatalogTagResponse], "/tags", {"limit": str(_page_rows)}
        )

    async def search(self, words: str, *, limit_per_type: int | None = None) -> SearchResponse:
        query = {"q": words, "limit_per_type": _text(limit_per_type)}
        return await self._connection.read(SearchResponse, "/public-search", query)

    # Reports

    def trades(
        self,
        *,
        user: str | None = None,
        market: Sequence[str] | None = None,
        side: Side | None = None,
        taker_only: bool | None = None,
        filter_type: Literal["CASH", "TOKENS"] | None = None,
        filter_amount: DecimalLike | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> AsyncIterator[PublicTrade]:
        """The public ledger, newest first, as far as the offset reaches (20,000 rows).

        Older rows: `end` (Unix seconds, included) of the oldest one that was read.
        """
        query = {
            "user": user,
            "market": _list(market),
            "side": side,
            "takerOnly": _text(taker_only),
            "filterType": filter_type,
            "filterAmount": _text(filter_amount),
            "start": _text(start),
            "end": _text(end),
        }
        return every_offset_row(
            lambda offset, limit: self._connection.read(
                list[PublicTrade], "/trades", {**query, **_page(offset, limit)}
            ),
            page_rows=1_000,
            offset_max=_offset_max,
        )

    def activity(
        self,
        user: str,
        *,
        market: Sequence[str] | None = None,
        type: Sequence[str] | None = None,  # noqa: A002
        start: int | None = None,
        end: int | None = None,
    ) -> AsyncIterator[Activity]:
        """Trades, splits, merges and redemptions of a wallet, newest first."""
        query = {
            "user": user,
            "market": _list(market),
            "type": _list(type),
            "start": _text(start),
            "end": _text(end),
        }
        return every_offset_row(
            lambda offset, limit: self._connection.read(
                list[Activity], "/activity", {**query, **_page(offset, limit)}
            ),
            page_rows=500,
            offset_max=_offset_max,
        )

    def positions(
        self, user: str, *, market: Sequence[str] | None = None, size_threshold: DecimalLike = 0
    ) -> AsyncIterator[Position]:
        """Positions of a wallet, valued at displayed prices, largest first."""
        query = {
            "user": user,
            "market": _list(market),
            "sizeThreshold": _text(size_threshold),
        }
        return every_offset_row(
            lambda offset, limit: self._connection.read(
                list[Position], "/positions", {**query, **_page(offset, limit)}
            ),
            page_rows=500,
            offset_max=_offset_max,
        )

    def closed_positions(
        self, user: str, *, market: Sequence[str] | None = None
    ) -> AsyncIterator[ClosedPosition]:
        """Positions of a wallet without tokens left, by realized profit."""
        query = {"user": user, "market": _list(market)}
        return every_offset_row(
            lambda offset, limit: self._connection.read(
                list[ClosedPosition], "/closed-positions", {**query, **_page(offset, limit)}
            ),
            page_rows=50,
            offset_max=100_000,
        )

    async def value(self, user: str) -> Decimal:
        """The value of the tokens of a wallet, USDC."""
        rows = await self._connection.read(list[WalletValueItem], "/value", {"user": user})
        return sum((row.value for row in rows), Decimal(0))

    async def holders(
        self, market: Sequence[str], *, limit: int | None = None
    ) -> list[HolderGroup]:
        """The largest balances of each token of markets (condition ids)."""
        query = {"market": _list(market), "limit": _text(limit)}
        return await self._connection.read(list[HolderGroup], "/holders", query)

    async def open_interest(self, market: Sequence[str] | None = None) -> list[OpenInterestItem]:
        query = {"market": _list(market)}
        return await self._connection.read(list[OpenInterestItem], "/oi", query)

    async def live_volume(self, event_id: str | int) -> list[LiveVolumeItem]:
        """The notional of all fills of an event."""
        query = {"id": str(event_id)}
        return await self._connection.read(list[LiveVolumeItem], "/live-volume", query)

    async def leaderboard(
        self,
        *,
        category: str | None = None,
        time_period: Literal["DAY", "WEEK", "MONTH", "ALL"] | None = None,
        order_by: Literal["PNL", "VOL"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[LeaderboardEntry]:
        """Traders by profit or volume; up to 50 rows."""
        query = {
            "category": category,
            "timePeriod": time_period,
            "orderBy": order_by,
            "limit": _text(limit),
            "offset": _text(offset),
        }
        return await self._connection.read(list[LeaderboardEntry], "/v1/leaderboard", query)

    # Comments and profiles

    def comments(
        self,
        *,
        parent_entity_id: str | int | None = None,
        parent_entity_type: ParentType | None = None,
        event_slug: str | None = None,
        holders_only: bool | None = None,
        ascending: bool | None = None,
    ) -> AsyncIterator[Comment]:
        """Comments on an event, a series or a market, newest first."""
        query = {
            "parent_entity_id": _text(parent_entity_id),
            "parent_entity_type": parent_entity_type,
            "event_slug": event_slug,
            "holders_only": _text(holders_only),
            "ascending": _text(ascending),
            "limit": str(_page_rows),
        }

        async def read(cursor: str | None) -> tuple[Sequence[Comment], str | None]:
            page = await self._connection.read(
                CommentPage, "/comments/keyset", {**query, "after_cursor": cursor}
            )
            return page.comments, page.next_cursor

        return every_keyset_row(read)

    async def comment(self, id: str) -> list[Comment]:  # noqa: A002
        """A comment and all below it."""
        return await self._connection.read(list[Comment], f"/comments/{id}")

    async def profile(self, address: str) -> ProfileResponse:
        """How a wallet is shown."""
        query = {"address": address}
        return await self._connection.read(ProfileResponse, "/public-profile", query)


def _token_items(token_ids: Sequence[str]) -> list[dict[str, str]]:
    return [{"token_id": token_id} for token_id in token_ids]


def _page(offset: int, limit: int) -> dict[str, str]:
    return {"offset": str(offset), "limit": str(limit)}


def _text(value: DecimalLike | bool | None) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    return None if value is None else str(value)


def _list(values: Sequence[str] | None) -> str | None:
    return None if values is None else ",".join(values)


def _moment(at: datetime | int) -> str:
    """Unix milliseconds. A time without a zone is refused: it would depend on the machine."""
    if isinstance(at, int):
        return str(at)
    if at.tzinfo is None:
        raise ValueError("a moment has a time zone")
    return str(round(at.timestamp() * 1000))
