"""The streams of a client."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence

from exchange_client._model import parse
from exchange_client.connection import Connection
from exchange_client.http import HttpRequest

from .book import Book, BookUpdate, book_update
from .frames import Channel, Json, int_of, key_of, own_key, rows_of, text_of
from .freshness import OnFreshness
from .messages import (
    ActivityMessage,
    BestMessage,
    CommentMessage,
    MarketMessage,
    OrderChange,
    OrdersSnapshot,
    OwnEvent,
    TradeMessage,
    own_event,
)
from .socket import SocketOptions, StreamSocket
from .subscription import Subscription

#: What a checksum has to say besides the levels, so that the hash of a book can be computed.
_hash_facts = ("timestamp", "min_order_size", "tick_size", "neg_risk", "last_trade_price")


def stream_url(base_url: str) -> str:
    """http becomes ws, https wss."""
    return "ws" + base_url.removeprefix("http") + "/v1/stream"


class Streams:
    """Subscriptions as async generators: close one with `aclose()`, or leave its loop.

    A subscription resumes by itself after the last message that it has. When messages are certainly
    missing, channels with a state (`book`, `best`, `orders`, `markets`) go on with a snapshot that
    says `gap`; the others raise `StreamGapError`, or with `allow_gaps` mark the next message.
    `StreamError` is raised when the service refuses the subscription.
    """

    def __init__(self, connection: Connection, *, stall_timeout_ms: int = 4_000) -> None:
        self._connection = connection
        self._sockets: list[StreamSocket] = []
        self.cancel_on_disconnect = False
        """Set it before `own`: the streams send heartbeats of the key while the connection is open.

        All its orders are canceled 10 to 15 s after the last one, unless this client is connected again
        by then, or something else sends heartbeats of the same key (sessions.md). A host that vanishes
        without closing the connection is noticed after 70 s.
        """
        self.stall_timeout_ms = stall_timeout_ms
        """The service sends a heartbeat each second; after so long a silence the connection is dead."""
        self.connect_timeout_ms = 30_000
        """A service that was never reached for so long is an error."""
        self.on_freshness: OnFreshness | None = None
        """Set it before the first loop: called when a subscription becomes stale, and fresh again.

        A key is stale while the owner of its partition is not heard, and when for `stale_after_ms` no
        heartbeat of the service has listed it with nothing missing: the connection is silent or gone,
        or its messages wait.
        """
        self.stale_after_ms = 1_500
        """Half a second after the heartbeat was due."""
        self.checksums_matched = 0
        """Checksums of books that were right."""
        self.checksums_failed = 0
        """Checksums that were wrong: each book was read again."""

    @property
    def lag_ms(self) -> int | None:
        """How far the service is behind the log, by the last heartbeats; None before the first."""
        lags = [socket.lag_ms for socket in self._sockets if socket.lag_ms is not None]
        return max(lags, default=None)

    @property
    def standing_still(self) -> frozenset[int] | None:
        """Partitions that are not live by the newest heartbeats: their owner was not heard for a second or the
        service does not follow them, so what is shown of their markets may be old. None before the first heartbeat.
        """
        heard = [one.standing_still for one in self._sockets if one.standing_still is not None]
        return frozenset().union(*heard) if heard else None

    async def book(self, token_id: str) -> AsyncGenerator[BookUpdate, None]:
        """The book of a token: a snapshot, then each change with the book after it."""
        async for update in self.books([token_id]):
            yield update

    async def books(self, token_ids: Sequence[str]) -> AsyncGenerator[BookUpdate, None]:
        """The books of several tokens in one subscription."""
        books = {token_id: Book(token_id) for token_id in token_ids}
        subscription = Subscription("book", token_ids)
        async for frame in self._frames(subscription):
            book = books[text_of(frame, "token")]
            if frame["type"] != "checksum":
                yield book_update(book, frame)
            elif not self._is_right(book, frame):
                subscription.forget(book.token_id)

    async def best(self, token_ids: Sequence[str]) -> AsyncGenerator[BestMessage, None]:
        """Best bid and ask of tokens, with their sizes."""
        subscription = Subscription("best", token_ids)
        async for frame in self._frames(subscription):
            yield parse(BestMessage, frame)

    async def orders(
        self, markets: Sequence[str]
    ) -> AsyncGenerator[OrdersSnapshot | OrderChange, None]:
        """Every resting order of markets (condition ids): all of them, then each change.

        The service sends many of them in parts; the snapshot of a market comes when it is whole.
        """
        subscription = Subscription("orders", markets)
        parts: dict[str, list[Json]] = {}
        gaps: set[str] = set()
        async for frame in self._frames(subscription):
            if frame["type"] != "snapshot":
                yield parse(OrderChange, frame)
                continue
            market = text_of(frame, "market")
            earlier = parts.pop(market, []) if int_of(frame, "part") > 0 else []
            orders = [*earlier, *rows_of(frame, "orders")]
            if frame.get("gap") is True:
                gaps.add(market)
            if frame.get("more") is True:
                parts[market] = orders
                continue
            is_gap = market in gaps
            gaps.discard(market)
            yield parse(OrdersSnapshot, {**frame, "orders": orders, "gap": is_gap})

    async def trades(
        self,
        markets: Sequence[str],
        *,
        after: Mapping[str, int] | None = None,
        allow_gaps: bool = False,
    ) -> AsyncGenerator[TradeMessage, None]:
        """Fills in markets (condition ids). `after` goes on after a `seq` of each of them."""
        async for frame in self._happenings("trades", markets, after, allow_gaps):
            yield parse(TradeMessage, frame)

    async def markets(self, markets: Sequence[str] = ()) -> AsyncGenerator[MarketMessage, None]:
        """Rules, modes, resolutions and new listings; of all markets without condition ids."""
        subscription = Subscription("markets", markets)
        async for frame in self._frames(subscription):
            yield parse(MarketMessage, frame)

    async def activity(
        self,
        markets: Sequence[str],
        *,
        after: Mapping[str, int] | None = None,
        allow_gaps: bool = False,
    ) -> AsyncGenerator[ActivityMessage, None]:
        """Both sides of each fill, splits, merges and redemptions, as rows of `GET /activity`."""
        async for frame in self._happenings("activity", markets, after, allow_gaps):
            yield parse(ActivityMessage, frame)

    async def comments(
        self,
        events: Sequence[str],
        *,
        after: Mapping[str, int] | None = None,
        allow_gaps: bool = False,
    ) -> AsyncGenerator[CommentMessage, None]:
        """Comments on events (their numbers) and their markets."""
        async for frame in self._happenings("comments", events, after, allow_gaps):
            yield parse(CommentMessage, frame)

    async def own(
        self, *, after: Mapping[int, int] | None = None, allow_gaps: bool = False
    ) -> AsyncGenerator[OwnEvent, None]:
        """Orders, fills, balances, positions and sessions of the caller: each change exactly once.

        Begins with a snapshot of each partition; `after` goes on where an earlier process ended
        instead: partition to the `seq` of its last event.
        """
        seqs = {own_key(partition): seq for partition, seq in (after or {}).items()}
        subscription = Subscription("own", (), after=seqs, allow_gaps=allow_gaps)
        async for frame in self._frames(subscription):
            event = own_event(frame)
            if event is not None:
                yield event

    async def aclose(self) -> None:
        """Ends all subscriptions."""
        sockets, self._sockets = self._sockets, []
        for socket in sockets:
            await socket.aclose()

    async def _happenings(
        self,
        channel: Channel,
        keys: Sequence[str],
        after: Mapping[str, int] | None,
        allow_gaps: bool,
    ) -> AsyncGenerator[Json, None]:
        """Events of a channel whose snapshots only say where they begin."""
        subscription = Subscription(channel, keys, after=after, allow_gaps=allow_gaps)
        gaps: set[str] = set()
        async for frame in self._frames(subscription):
            key = key_of(frame)
            if frame["type"] == "snapshot":
                if frame.get("gap") is True:
                    gaps.add(key)
            elif key in gaps:
                gaps.remove(key)
                yield {**frame, "gap": True}
            else:
                yield frame

    async def _frames(self, subscription: Subscription) -> AsyncGenerator[Json, None]:
        socket = self._socket_for(subscription)
        socket.attach(subscription)
        try:
            while True:
                yield await subscription.next()
        finally:
            await socket.remove(subscription)
            if not socket.is_used and socket in self._sockets:
                self._sockets.remove(socket)

    def _socket_for(self, subscription: Subscription) -> StreamSocket:
        """Frames carry no number of a subscription, so each key is once on a connection."""
        for socket in self._sockets:
            if not socket.carries(subscription.channel, subscription.keys):
                return socket
        options = SocketOptions(
            url=stream_url(self._connection.base_url),
            stall_timeout_ms=self.stall_timeout_ms,
            connect_timeout_ms=self.connect_timeout_ms,
            cancel_on_disconnect=self.cancel_on_disconnect,
            stale_after_ms=self.stale_after_ms,
            on_freshness=self.on_freshness,
        )
        socket = StreamSocket(options, self._proof)
        self._sockets.append(socket)
        return socket

    def _proof(self, path: str, now_ms: int) -> dict[str, str]:
        return dict(self._connection.sign(HttpRequest("GET", path), now_ms).headers)

    def _is_right(self, book: Book, checksum: Json) -> bool:
        """True also where the frame does not have what the hash is made of."""
        if any(name not in checksum for name in _hash_facts):
            return True
        if book.hash(checksum) == text_of(checksum, "hash"):
            self.checksums_matched += 1
            return True
        self.checksums_failed += 1
        return False
