"""A stream service that follows the declared protocol, on a log of its own, and fails on request."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
from collections import defaultdict
from types import TracebackType
from typing import Self, TypeAlias, cast

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from exchange_client import KeyOfWallet, signed_headers
from exchange_client.amounts import micro_text, price_text

from .declared_frames import example_of, problem_of

Json: TypeAlias = dict[str, object]
#: Price to size, as integers; bids and asks.
Levels: TypeAlias = dict[str, dict[int, int]]

fields = {"book": "tokens", "best": "tokens", "comments": "events"}
own_key = KeyOfWallet(
    "9f2b6d4c-81e7-4053-8211-6d4c81e7a053",
    "A" * 43 + "=",
    "p",
    "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A",
)
market = "0x" + "1" * 64
other_market = "0x" + "2" * 64
start_ms = 1_780_315_200_000


def market_of(token: str) -> str:
    return "0x" + token.zfill(64)


class Log:
    """Messages of each channel and key, and the book of each token after each of them."""

    def __init__(self, seed: int = 1) -> None:
        self.draw = random.Random(seed)
        self.messages: dict[tuple[str, str], list[Json]] = defaultdict(list)
        self.books: dict[str, list[Levels]] = defaultdict(lambda: [{"BUY": {}, "SELL": {}}])
        self.offset = 0
        self.orders: dict[str, list[Json]] = defaultdict(list)
        self.rules: dict[str, Json] = {}
        self.kept = 1_000_000
        """Messages of a key that a subscription can go on from."""

    def seq(self, channel: str, key: str) -> int:
        return len(self.messages[channel, key])

    def add(self, channel: str, key: str, fields: Json, partition: int = 0) -> None:
        self.offset += 1
        seq = self.seq(channel, key) + 1
        self.messages[channel, key].append(
            {
                "channel": channel,
                "seq": seq,
                "prev": seq - 1,
                "at": {"partition": partition, "offset": self.offset, "index": 0},
                "time": start_ms + self.offset,
                **fields,
            }
        )

    def change_book(self, token: str) -> None:
        levels: Levels = {side: dict(old) for side, old in self.books[token][-1].items()}
        rows: list[Json] = []
        for _ in range(self.draw.randint(1, 3)):
            side = self.draw.choice(("BUY", "SELL"))
            price = self.draw.randint(1, 20) * 100 + (0 if side == "BUY" else 5_000)
            size = self.draw.choice((0, 1, 2, 3)) * 1_500_000
            if size == 0:
                levels[side].pop(price, None)
            else:
                levels[side][price] = size
            rows = [row for row in rows if (row["side"], row["price"]) != (side, price_text(price))]
            rows.append({"side": side, "price": price_text(price), "size": micro_text(size)})
        self.books[token].append(levels)
        delta: Json = {"type": "delta", "market": market_of(token), "token": token, "levels": rows}
        self.add("book", token, delta)

    def trade(self, market: str) -> None:
        fill: Json = {
            "type": "event",
            "market": market,
            "id": f"t-{self.offset}",
            "transaction_hash": "0x" + "0" * 64,
            "match": "COMPLEMENTARY",
            "token": "7",
            "side": "BUY",
            "price": "0.52",
            "size": "1.5",
            "maker_token": "7",
            "maker_price": "0.52",
            "fee_rate_bps": 0,
        }
        self.add("trades", market, fill)

    def fill_own(self, partition: int) -> None:
        fill: Json = {
            "type": "event",
            "wallet": own_key.address,
            "kind": "fill",
            "id": f"f-{self.offset}",
            "role": "TAKER",
            "order": "0x" + "1" * 64,
            "market": market,
            "token": "7",
            "side": "BUY",
            "price": "0.52",
            "size": "1.5",
            "fee": "0.00001",
        }
        self.add("own", str(partition), fill, partition)

    def change_order(self, market: str, order: str, size: str) -> None:
        """A resting order comes, becomes smaller, or leaves with the size 0."""
        names = [str(one["order"]) for one in self.orders[market]]
        kept = [one for one in self.orders[market] if one["order"] != order]
        row: Json = {"order": order, "side": "BUY", "price": "0.5", "size": size}
        if size == "0":
            change: Json = {"action": "remove", "order": order}
        else:
            kept.append(row)
            change = {"action": "change" if order in names else "add", **row}
        self.orders[market] = kept
        self.add("orders", market, {"type": "delta", "market": market, **change})

    def change_market(self, market: str, mode: str) -> None:
        """Markets are in partition 0."""
        is_new = self.seq("markets", market) == 0
        self.rules[market] = {
            "tokens": ["1", "2"],
            "mode": mode,
            "trading_mode": "OPEN",
            "tick_size": "0.01",
            "min_order_size": "5",
            "fee_rate_bps": 0,
            "taker_delay_ms": 0,
            "payouts": None,
        }
        head: Json = {"type": "event", "action": "listed" if is_new else "changed"}
        self.add("markets", market, {**head, "market": market, **self.rules[market]})


def rows_of(levels: Levels, side: str) -> list[Json]:
    best_last = sorted(levels[side].items(), reverse=side == "SELL")
    return [{"price": price_text(price), "size": micro_text(size)} for price, size in best_last]


class Reader:
    """One connection."""

    def __init__(self, service: FakeStreams, socket: ServerConnection) -> None:
        self.service = service
        self.socket = socket
        self.positions: dict[tuple[str, str], int] = {}
        self.wallet = False
        self.all_markets = False
        self.skips: set[tuple[str, str]] = set()

    async def send(self, frame: Json) -> None:
        self.service.check(frame, of_client=False)
        await self.socket.send(json.dumps(frame))

    async def welcome(self) -> None:
        epochs = [
            {"partition": 0, "epoch": self.service.epoch, "offset": self.service.log.offset},
            {"partition": 1, "epoch": self.service.second_epoch, "offset": -1},
        ]
        welcome = {**example_of("ServerWelcome"), "partitions": epochs}
        await self.send({**welcome, "time": time.time_ns() // 1_000_000 + self.service.ahead_ms})

    async def handle(self, frame: Json) -> None:
        self.service.check(frame, of_client=True)
        self.service.heard.append(frame)
        refusal = self.service.refusals.pop(0) if self.service.refusals else None
        if refusal is not None:
            code, is_retryable = refusal
            await self.error(frame, code, is_retryable)
        elif frame["op"] == "auth":
            await self.authenticate(frame)
        elif frame["op"] == "subscribe":
            await self.subscribe(frame)
        elif frame["op"] == "unsubscribe":
            channel = str(frame["channel"])
            for key in self.keys_of(frame):
                self.positions.pop((channel, key), None)
                self.all_markets = self.all_markets and channel != "markets"
            done: Json = {"type": "unsubscribed", "id": frame["id"], "channel": channel}
            await self.send({**done, "keys": []})

    async def error(self, frame: Json, code: str, is_retryable: bool = False) -> None:
        await self.send(
            {
                "type": "error",
                "id": frame["id"],
                "code": code,
                "message": code,
                "retryable": is_retryable,
            }
        )

    async def authenticate(self, frame: Json) -> None:
        sent = cast("dict[str, str]", frame["headers"])
        now_ms = int(sent["SERVICE_TIMESTAMP"])
        option = "true" if frame.get("cancel_on_disconnect") else "false"
        stream_id = example_of("ServerWelcome")["stream_id"]
        path = f"/v1/stream?stream_id={stream_id}&cancel_on_disconnect={option}"
        proof = signed_headers(own_key, method="GET", path=path, body="", now_ms=now_ms)
        self.wallet = sent["SERVICE_SIGNATURE"] == proof["SERVICE_SIGNATURE"]
        if self.wallet:
            await self.send({"type": "authenticated", "id": frame["id"], "wallet": own_key.address})
        else:
            await self.error(frame, "unauthorized")

    def keys_of(self, frame: Json) -> list[str]:
        channel = str(frame["channel"])
        if channel == "own":
            return ["0", "1"]
        field = fields.get(channel, "markets")
        known = [key for of, key in self.service.log.messages if of == channel]
        return cast("list[str]", frame.get(field, known))

    async def subscribe(self, frame: Json) -> None:
        channel = str(frame["channel"])
        if channel == "own" and not self.wallet:
            await self.error(frame, "not_authenticated")
            return
        keys = self.keys_of(frame)
        self.all_markets = self.all_markets or (channel == "markets" and "markets" not in frame)
        rows = self.rows_of([(channel, key, self.service.log.seq(channel, key)) for key in keys])
        for row in rows:
            row.pop("channel")
        await self.send({"type": "subscribed", "id": frame["id"], "channel": channel, "keys": rows})
        places = frame.get("from", [])
        for key in keys:
            await self.begin(channel, key, self.place_of(channel, key, places))

    def rows_of(self, places: list[tuple[str, str, int]]) -> list[Json]:
        """Places as frames name them."""
        rows: list[Json] = []
        sums = 0
        for channel, key, seq in places:
            if channel == "own":
                wallet = {"key": own_key.address, "partition": int(key)}
                rows.append({"channel": channel, **wallet, "seq": seq})
            elif channel == "markets" and self.all_markets:
                sums += seq
            else:
                rows.append({"channel": channel, "key": key, "seq": seq})
        if self.all_markets:
            rows.append({"channel": "markets", "key": "*", "partition": 0, "seq": sums})
        return rows

    def place_of(self, channel: str, key: str, places: object) -> int | None:
        rows = cast("list[dict[str, int]]", places if isinstance(places, list) else [places])
        for row in rows:
            if channel != "own" or str(row["partition"]) == key:
                return row["seq"]
        return None

    async def begin(self, channel: str, key: str, place: int | None) -> None:
        seq = self.service.log.seq(channel, key)
        is_kept = place is not None and seq - place <= self.service.log.kept
        self.positions[channel, key] = place if is_kept and place is not None else seq
        if not is_kept:
            for frame in self.parts(self.snapshot(channel, key, gap=place is not None)):
                await self.send(frame)

    def parts(self, snapshot: Json) -> list[Json]:
        """Resting orders come in parts."""
        size = self.service.orders_per_part
        rows = cast("list[Json]", snapshot.get("orders", []))
        if snapshot["channel"] != "orders" or len(rows) <= size:
            return [snapshot]
        chunks = [rows[at : at + size] for at in range(0, len(rows), size)]
        parts = [
            {**snapshot, "orders": chunk, "part": part, "more": True}
            for part, chunk in enumerate(chunks)
        ]
        parts[-1].pop("more")
        return parts

    def snapshot(self, channel: str, key: str, gap: bool) -> Json:
        log = self.service.log
        frame: Json = {
            "type": "snapshot",
            "channel": channel,
            "seq": log.seq(channel, key),
            "at": {"partition": 0, "offset": log.offset, "index": -1},
            "time": start_ms,
        }
        if gap:
            frame["gap"] = True
        if channel == "book":
            levels = log.books[key][-1]
            frame |= {"market": market_of(key), "token": key}
            return {**frame, "bids": rows_of(levels, "BUY"), "asks": rows_of(levels, "SELL")}
        if channel == "own":
            at = {"partition": int(key), "offset": log.offset, "index": -1}
            balance = {"free": "10", "held": "0"}
            own = {"wallet": own_key.address, "orders": [], "positions": [], "balance": balance}
            return {**frame, **own, "at": at}
        if channel == "orders":
            return {**frame, "market": key, "orders": log.orders[key]}
        if channel == "markets":
            return {**frame, "market": key, **log.rules[key]}
        return {**frame, "market": key, "items": []}

    async def push(self) -> None:
        """Sends what is new; a service that merges sends all changes of a book as one."""
        log = self.service.log
        if self.all_markets:
            for key in log.rules:
                self.positions.setdefault(("markets", key), 0)
        for (channel, key), position in list(self.positions.items()):
            fresh = log.messages[channel, key][position:]
            for index, message in enumerate(fresh):
                if (channel, key) in self.skips and index < len(fresh) - 1:
                    continue
                await self.send(message)
                if channel == "book" and int(cast("int", message["seq"])) % 100 == 0:
                    await self.send(self.checksum(key, int(cast("int", message["seq"]))))
            if (channel, key) in self.positions:
                self.positions[channel, key] = position + len(fresh)

    def checksum(self, token: str, seq: int) -> Json:
        levels = self.service.log.books[token][seq]
        facts: Json = {
            "timestamp": "1780315200123",
            "min_order_size": "5",
            "tick_size": "0.01",
            "neg_risk": False,
            "last_trade_price": "",
        }
        # The body of GET /book with an empty hash, in the order of its keys.
        book: Json = {
            "market": market_of(token),
            "asset_id": token,
            "timestamp": facts["timestamp"],
            "hash": "",
            "bids": rows_of(levels, "BUY"),
            "asks": rows_of(levels, "SELL"),
            "min_order_size": "5",
            "tick_size": "0.01",
            "neg_risk": False,
            "last_trade_price": "",
        }
        text = json.dumps(book, separators=(",", ":"))
        hash_text = hashlib.sha1(text.encode()).hexdigest()
        if self.service.wrong_checksums > 0:
            self.service.wrong_checksums -= 1
            hash_text = "0" * 40
        frame: Json = {"type": "checksum", "channel": "book", "token": token, "seq": seq}
        at = {"partition": 0, "offset": self.service.log.offset, "index": -1}
        frame |= {"market": market_of(token), "at": at, "time": start_ms, "hash": hash_text}
        return {**frame, **facts}


class FakeStreams:
    def __init__(self, seed: int = 1) -> None:
        self.log = Log(seed)
        self.epoch = "9f2b6d4c81e7a053"
        self.second_epoch: str | None = None
        self.orders_per_part = 1_000
        self.heard: list[Json] = []
        self.problems: list[str] = []
        """Frames of either side that are not declared."""
        self.refusals: list[tuple[str, bool] | None] = []
        """Codes that the next frames are refused with; None for no refusal."""
        self.wrong_checksums = 0
        self.readers: list[Reader] = []
        self.connections = 0
        self.ahead_ms = 0
        """Its clock minus that of the client."""
        self.is_silent = False
        self.row_fields: Json = {}
        """Of rows of subscriptions in heartbeats."""
        self.partitions: list[Json] = []
        """Rows of partitions in each heartbeat."""
        self.cuts_left = 0
        """Connections that are cut at random places."""
        self.port = 0
        self._server: Server | None = None
        self._ticking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
        assert self.problems == []

    def check(self, frame: Json, *, of_client: bool) -> None:
        problem = problem_of(frame, of_client=of_client)
        if problem is not None:
            self.problems.append(problem)

    async def open(self) -> None:
        self._server = await serve(self._accept, "127.0.0.1", self.port)
        self.port = next(iter(self._server.sockets)).getsockname()[1]
        self._ticking = asyncio.create_task(self._tick())

    async def close(self) -> None:
        if self._ticking is not None:
            self._ticking.cancel()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def subscribes(self) -> list[Json]:
        return [frame for frame in self.heard if frame["op"] == "subscribe"]

    async def push(self) -> None:
        for reader in list(self.readers):
            try:
                if self.cuts_left > 0 and self.log.draw.random() < 0.3:
                    self.cuts_left -= 1
                    reader.socket.transport.abort()
                else:
                    await reader.push()
            except ConnectionClosed:
                continue

    async def _accept(self, socket: ServerConnection) -> None:
        reader = Reader(self, socket)
        self.connections += 1
        try:
            await reader.welcome()
            self.readers.append(reader)
            async for text in socket:
                await reader.handle(json.loads(text))
        except ConnectionClosed:
            pass
        finally:
            if reader in self.readers:
                self.readers.remove(reader)

    async def _tick(self) -> None:
        """Heartbeats, faster than those of the service, for short tests."""
        while True:
            await asyncio.sleep(0.05)
            for reader in list(self.readers):
                places = [(*name, seq) for name, seq in reader.positions.items()]
                rows = [row | self.row_fields for row in reader.rows_of(places)]
                frame: Json = {"type": "heartbeat", "time": start_ms, "lag_ms": 3}
                frame |= {"partitions": self.partitions, "subscriptions": rows}
                try:
                    if not self.is_silent:
                        await reader.send(frame)
                except ConnectionClosed:
                    continue
