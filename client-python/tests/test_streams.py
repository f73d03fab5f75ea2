"""Streams: no message is lost or comes twice, whatever happens to connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from decimal import Decimal
from typing import cast

import pytest

from exchange_client import (
    BookUpdate,
    ExchangeClient,
    FreshnessEvent,
    StreamError,
    StreamGapError,
)
from exchange_client.streams import subscription as subscription_module
from exchange_client.streams.messages import OrderChange, OrdersSnapshot, OwnFill, OwnSnapshot
from exchange_client.streams.subscription import Subscription

from .fake_streams import FakeStreams, Json, Levels, Reader, market, other_market, own_key, start_ms


@pytest.fixture
async def service() -> AsyncIterator[FakeStreams]:
    async with FakeStreams() as one:
        yield one


@pytest.fixture
async def client(service: FakeStreams) -> AsyncIterator[ExchangeClient]:
    async with ExchangeClient(service.base_url) as one:
        one.use_key(own_key)
        # No test but that of silence is judged by a clock.
        one.stream.stall_timeout_ms = 20_000
        yield one


def levels_of(update: BookUpdate) -> Levels:
    def side(levels: list[tuple[Decimal, Decimal]]) -> dict[int, int]:
        return {int(price * 10_000): int(size * 1_000_000) for price, size in levels}

    book = update.book
    return {
        "BUY": side([(level.price, level.size) for level in book.bids]),
        "SELL": side([(level.price, level.size) for level in book.asks]),
    }


async def keep_changing(service: FakeStreams, change: Callable[[], None], count: int) -> None:
    for _ in range(count):
        change()
        await service.push()
        await asyncio.sleep(0.001)


async def until(is_true: Callable[[], bool]) -> None:
    for _ in range(15_000):
        if is_true():
            return
        await asyncio.sleep(0.002)
    raise TimeoutError("the condition did not become true")


@asynccontextmanager
async def pushing(service: FakeStreams) -> AsyncIterator[None]:
    """The service sends what is new, again and again."""

    async def run() -> None:
        while True:
            await service.push()
            await asyncio.sleep(0.005)

    task = asyncio.create_task(run())
    try:
        async with asyncio.timeout(60):
            yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_book_equals_that_of_the_service_after_every_message(
    service: FakeStreams, client: ExchangeClient
) -> None:
    for _ in range(50):
        service.log.change_book("7")
    changing = asyncio.create_task(
        keep_changing(service, lambda: service.log.change_book("7"), 250)
    )
    seqs: list[int] = []
    async with asyncio.timeout(60), aclosing(client.stream.book("7")) as updates:
        async for update in updates:
            seqs.append(update.seq)
            assert levels_of(update) == service.log.books["7"][update.seq]
            if update.seq == 300:
                break
    await changing
    assert seqs == list(range(seqs[0], 301))
    assert client.stream.checksums_matched >= 2
    assert client.stream.checksums_failed == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_cuts_at_random_places_lose_and_repeat_nothing(seed: int) -> None:
    async with FakeStreams(seed) as service, ExchangeClient(service.base_url) as client:
        client.use_key(own_key)
        log = service.log
        service.cuts_left = 12

        def change() -> None:
            log.change_book("7")
            log.change_book("8")
            log.trade(market)
            log.fill_own(log.draw.randint(0, 1))

        books: dict[str, list[int]] = {"7": [], "8": []}
        trades: list[str] = []
        fills: list[tuple[int, int]] = []

        async def read_books() -> None:
            async for update in client.stream.books(["7", "8"]):
                books[update.book.token_id].append(update.seq)
                assert levels_of(update) == log.books[update.book.token_id][update.seq]

        async def read_trades() -> None:
            async for trade in client.stream.trades([market], after={market: 0}):
                trades.append(trade.id)

        async def read_own() -> None:
            async for event in client.own.events(after={0: 0, 1: 0}):
                assert isinstance(event, OwnFill)
                fills.append((event.at.partition, event.seq))

        tasks = [asyncio.create_task(one()) for one in (read_books, read_trades, read_own)]
        await until(lambda: len(service.readers) == 1)
        count = 0
        while count < 200 or service.cuts_left > 0:
            count += 1
            change()
            await service.push()
            await asyncio.sleep(0.01)
        async with pushing(service):
            await until(lambda: len(trades) == count and len(fills) == count)
            await until(lambda: all(one and one[-1] == count for one in books.values()))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert service.connections > 12
        for seqs in books.values():
            assert seqs == list(range(seqs[0], count + 1))
        assert trades == [message["id"] for message in log.messages["trades", market]]
        expected = [(one, seq) for one in (0, 1) for seq in range(1, log.seq("own", str(one)) + 1)]
        assert sorted(fills) == expected


async def test_a_message_that_is_skipped_is_asked_for_again(
    service: FakeStreams, client: ExchangeClient
) -> None:
    updates = client.stream.trades([market])
    reading = asyncio.create_task(anext(updates))
    await until(lambda: bool(service.readers and service.readers[0].positions))
    service.readers[0].skips.add(("trades", market))
    for _ in range(3):
        service.log.trade(market)
    await service.push()
    await until(lambda: service.connections == 2 and len(service.readers) == 1)
    await until(lambda: bool(service.readers[0].positions))
    await service.push()
    assert (await reading).seq == 1
    assert [(await anext(updates)).seq for _ in range(2)] == [2, 3]
    assert service.subscribes()[-1]["from"] == {"seq": 0, "epoch": service.epoch}
    await updates.aclose()


async def test_a_message_that_the_heartbeat_knows_and_that_does_not_come_is_asked_for(
    service: FakeStreams, client: ExchangeClient
) -> None:
    updates = client.stream.trades([market])
    reading = asyncio.create_task(anext(updates))
    await until(lambda: bool(service.readers and service.readers[0].positions))
    service.log.trade(market)
    # The service believes that it has sent it.
    service.readers[0].positions["trades", market] = 1
    await until(lambda: service.connections == 2 and len(service.readers) == 1)
    await until(lambda: bool(service.readers[0].positions))
    await service.push()
    assert (await reading).seq == 1
    await updates.aclose()


async def test_a_silent_connection_is_made_again(
    service: FakeStreams, client: ExchangeClient
) -> None:
    client.stream.stall_timeout_ms = 400
    updates = client.stream.trades([market])
    reading = asyncio.create_task(anext(updates))
    await until(lambda: bool(service.readers and service.readers[0].positions))
    service.is_silent = True
    await until(lambda: service.connections >= 2)
    service.is_silent = False
    service.log.trade(market)
    await until(lambda: bool(service.readers and service.readers[-1].positions))
    await service.push()
    assert (await reading).seq == 1
    assert client.stream.lag_ms in (None, 3)
    await updates.aclose()


async def test_partitions_that_are_not_live_are_named(
    service: FakeStreams, client: ExchangeClient
) -> None:
    rows: list[Json] = [
        {"partition": partition, "offset": 7, "time": start_ms, "lag_ms": 0, "live": partition != 3}
        for partition in (0, 3)
    ]
    service.partitions = rows
    assert client.stream.standing_still is None
    updates = client.stream.trades([market])
    reading = asyncio.create_task(anext(updates))
    await until(lambda: client.stream.standing_still == frozenset((3,)))
    service.partitions = [row | {"live": True} for row in rows]
    await until(lambda: client.stream.standing_still == frozenset())
    service.log.trade(market)
    await service.push()
    assert (await reading).seq == 1
    await updates.aclose()


async def test_loops_say_when_they_are_stale_and_fresh(
    service: FakeStreams, client: ExchangeClient
) -> None:
    events: list[FreshnessEvent] = []
    client.stream.on_freshness = events.append
    client.stream.stale_after_ms = 1_000
    service.log.change_book("7")
    row: Json = {"partition": 0, "offset": 7, "time": start_ms, "lag_ms": 0, "live": True}
    service.partitions = [row]
    updates = client.stream.books(["7", "8"])
    assert (await anext(updates)).is_snapshot
    assert (await anext(updates)).is_snapshot

    async def follow(expected: set[tuple[str, str | None, frozenset[int]]]) -> None:
        def newest() -> set[tuple[str, str | None, frozenset[int]]]:
            by_key = {one.key: one for one in events}
            return {(one.state, key, one.partitions) for key, one in by_key.items()}

        await until(lambda: newest() == expected)

    none: frozenset[int] = frozenset()
    fresh: set[tuple[str, str | None, frozenset[int]]] = {
        ("fresh", "7", none),
        ("fresh", "8", none),
    }
    service.is_silent = True
    await follow({("stale", "7", none), ("stale", "8", none)})
    service.is_silent = False
    await follow(fresh)
    service.partitions = [row | {"live": False}]
    await follow({("stale", "7", frozenset((0,))), ("stale", "8", frozenset((0,)))})
    service.partitions = [row]
    await follow(fresh)
    service.row_fields = {"waiting": True}
    await follow({("stale", "7", none), ("stale", "8", none)})
    service.row_fields = {}
    await follow(fresh)
    await updates.aclose()


@pytest.mark.parametrize("ahead_ms", [-3_600_000, 3_600_000])
async def test_own_events_prove_the_key_at_the_time_of_the_service(
    service: FakeStreams, client: ExchangeClient, ahead_ms: int
) -> None:
    service.ahead_ms = ahead_ms
    events = client.own.events()
    await anext(events)
    [proof] = [frame for frame in service.heard if frame["op"] == "auth"]
    sent_ms = int(cast("dict[str, str]", proof["headers"])["SERVICE_TIMESTAMP"])
    # What the service accepts.
    assert abs(sent_ms - (time.time_ns() // 1_000_000 + ahead_ms)) < 30_000
    await events.aclose()


async def test_a_service_that_is_away_is_waited_for(
    service: FakeStreams, client: ExchangeClient
) -> None:
    updates = client.stream.book("7")
    assert (await anext(updates)).is_snapshot
    await service.close()
    service.log.change_book("7")
    await asyncio.sleep(0.3)
    await service.open()
    await until(lambda: bool(service.readers and service.readers[-1].positions))
    await service.push()
    assert (await anext(updates)).seq == 1
    await updates.aclose()


async def lose(service: FakeStreams, count: int) -> None:
    """The connection dies, and while it is away more happens than the service keeps."""
    await until(lambda: bool(service.readers and service.readers[-1].positions))
    service.log.kept = 5
    service.readers[-1].socket.transport.abort()
    for _ in range(count):
        service.log.change_book("7")
        service.log.trade(market)


async def test_a_certain_gap_is_raised_and_names_the_last_message(
    service: FakeStreams, client: ExchangeClient
) -> None:
    updates = client.stream.trades([market], after={market: 0})
    service.log.trade(market)
    reading = asyncio.create_task(anext(updates))
    await until(lambda: bool(service.readers and service.readers[0].positions))
    await service.push()
    assert (await reading).seq == 1
    await lose(service, 10)
    with pytest.raises(StreamGapError) as failure:
        await anext(updates)
    assert (failure.value.channel, failure.value.key, failure.value.seq) == ("trades", market, 1)
    await until(lambda: service.readers == [])


async def test_a_book_goes_on_after_a_gap_and_says_so(
    service: FakeStreams, client: ExchangeClient
) -> None:
    updates = client.stream.book("7")
    assert (await anext(updates)).seq == 0
    await lose(service, 10)
    update = await anext(updates)
    assert (update.gap, update.is_snapshot, update.seq) == (True, True, 10)
    assert levels_of(update) == service.log.books["7"][10]
    await updates.aclose()


async def test_where_gaps_are_allowed_the_next_trade_says_so(
    service: FakeStreams, client: ExchangeClient
) -> None:
    updates = client.stream.trades([market], allow_gaps=True)
    reading = asyncio.create_task(anext(updates))
    await lose(service, 10)
    await until(lambda: service.connections == 2 and len(service.readers) == 1)
    await until(lambda: bool(service.readers[0].positions))
    service.log.trade(market)
    async with pushing(service):
        trade = await reading
    assert (trade.gap, trade.seq) == (True, 11)
    await updates.aclose()


async def test_a_replaced_log_is_a_gap_of_trades(
    service: FakeStreams, client: ExchangeClient
) -> None:
    updates = client.stream.trades([market], after={market: 0})
    service.log.trade(market)
    async with pushing(service):
        await anext(updates)
    service.epoch = "ffffffffffffffff"
    service.readers[-1].socket.transport.abort()
    with pytest.raises(StreamGapError, match="replaced"):
        await anext(updates)


async def test_a_book_of_a_replaced_log_begins_again_and_says_so(
    service: FakeStreams, client: ExchangeClient
) -> None:
    updates = client.stream.book("7")
    assert (await anext(updates)).seq == 0
    service.epoch = "ffffffffffffffff"
    service.readers[-1].socket.transport.abort()
    update = await anext(updates)
    assert (update.gap, update.is_snapshot, update.seq) == (True, True, 0)
    await updates.aclose()


async def test_a_service_that_skips_a_message_again_and_again_does_not_have_it(
    service: FakeStreams, client: ExchangeClient
) -> None:
    service.log.trade(market)
    service.log.trade(market)
    del service.log.messages["trades", market][0]
    updates = client.stream.trades([market], after={market: 0})

    async with pushing(service):
        with pytest.raises(StreamGapError, match="skips"):
            await anext(updates)
    assert service.connections == 4


async def test_a_merged_change_counts_for_all_that_it_stands_for(
    service: FakeStreams, client: ExchangeClient
) -> None:
    updates = client.stream.book("7")
    await anext(updates)
    for _ in range(4):
        service.log.change_book("7")
    merged: dict[tuple[object, object], object] = {}
    messages = service.log.messages["book", "7"]
    for message in messages:
        rows = message["levels"]
        assert isinstance(rows, list)
        merged |= {(row["side"], row["price"]): row for row in rows}
    last = {**messages[-1], "prev": 0, "merged": True, "levels": list(merged.values())}
    service.readers[0].positions["book", "7"] = 4
    await service.readers[0].send(last)
    update = await anext(updates)
    assert (update.seq, update.merged) == (4, True)
    assert levels_of(update) == service.log.books["7"][4]
    await updates.aclose()


async def test_a_wrong_book_is_read_again(service: FakeStreams, client: ExchangeClient) -> None:
    service.wrong_checksums = 1
    updates = client.stream.books(["7", "8"])
    await anext(updates)
    await anext(updates)
    for _ in range(120):
        service.log.change_book("7")
    service.log.change_book("8")
    await service.push()
    seqs: list[int] = []
    async with asyncio.timeout(60):
        while (update := await anext(updates)).seq != 120 or not update.is_snapshot:
            if update.book.token_id == "7":
                seqs.append(update.seq)
            assert levels_of(update) == service.log.books[update.book.token_id][update.seq]
    assert client.stream.checksums_failed == 1
    assert seqs == list(range(1, 101))
    await updates.aclose()


async def test_a_slow_iterator_pauses_its_own_subscription_and_loses_nothing(
    service: FakeStreams, client: ExchangeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscription_module, "queue_max_frames", 20)
    slow = client.stream.trades([market], after={market: 0})
    quick = client.stream.trades([other_market], after={other_market: 0})
    first = asyncio.create_task(anext(slow))
    second = asyncio.create_task(anext(quick))
    await until(lambda: bool(service.readers) and len(service.readers[0].positions) == 2)
    for _ in range(100):
        service.log.trade(market)
        service.log.trade(other_market)
        await service.push()
        await asyncio.sleep(0)
        if second.done():
            second = asyncio.create_task(anext(quick))
    assert (await first).seq == 1
    seqs = [1]

    async def read() -> None:
        while len(seqs) < 100:
            seqs.append((await anext(slow)).seq)

    reading = asyncio.create_task(read())
    while not reading.done():
        await service.push()
        await asyncio.sleep(0.01)
    await reading
    assert seqs == list(range(1, 101))
    assert service.connections == 1
    assert any(frame["op"] == "unsubscribe" for frame in service.heard)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    await slow.aclose()
    await quick.aclose()


async def test_own_begins_with_a_snapshot_of_each_partition(
    service: FakeStreams, client: ExchangeClient
) -> None:
    events = client.own.events()
    snapshots = [await anext(events), await anext(events)]
    assert all(isinstance(one, OwnSnapshot) for one in snapshots)
    service.log.fill_own(1)
    await service.push()
    fill = await anext(events)
    assert isinstance(fill, OwnFill)
    assert (fill.price, fill.size, fill.fee) == (
        Decimal("0.52"),
        Decimal("1.5"),
        Decimal("0.00001"),
    )
    state = {"type": "state", "channel": "own", "kind": "transfers", "total": "5"}
    at = {"partition": 1, "offset": 1, "index": 0}
    await service.readers[0].send({**state, "wallet": own_key.address, "at": at, "time": start_ms})
    transfers = await anext(events)
    assert transfers.kind == "transfers"
    await events.aclose()


async def test_a_snapshot_in_parts_counts_once_it_is_whole() -> None:
    own = Subscription("own", ())
    own.take_subscribed({"keys": []})
    at = {"partition": 1, "offset": 7, "index": -1}
    frame = {"type": "snapshot", "channel": "own", "seq": 5, "at": at}
    own.offer({**frame, "part": 0, "more": True})
    assert own.subscribe_frames() == [{"op": "subscribe", "channel": "own"}]
    own.offer({**frame, "part": 1})
    assert own.seqs == {"1": 5}
    assert [(await own.next())["part"] for _ in range(2)] == [0, 1]


async def test_a_wrong_key_ends_own_and_nothing_else(
    service: FakeStreams, client: ExchangeClient
) -> None:
    book = client.stream.book("7")
    await anext(book)
    service.refusals = [("unauthorized", False)]
    with pytest.raises(StreamError) as failure:
        await anext(client.own.events())
    assert failure.value.code == "unauthorized"
    service.log.change_book("7")
    await service.push()
    assert (await anext(book)).seq == 1
    await book.aclose()


async def test_a_refusal_that_passes_is_waited_for(
    service: FakeStreams, client: ExchangeClient
) -> None:
    service.refusals = [("unavailable", True), ("position_ahead", True)]
    book = client.stream.book("7")
    assert (await anext(book)).is_snapshot
    assert service.connections == 3
    await book.aclose()


async def test_iterators_share_a_connection_unless_they_share_a_key(
    service: FakeStreams, client: ExchangeClient
) -> None:
    first, second, third = (client.stream.book(token) for token in ("7", "8", "7"))
    for updates in (first, second, third):
        assert (await anext(updates)).is_snapshot
    assert service.connections == 2
    for updates in (first, second, third):
        await updates.aclose()
    await until(lambda: service.readers == [])


async def test_leaving_a_loop_ends_the_subscription(
    service: FakeStreams, client: ExchangeClient
) -> None:
    async for _update in client.stream.book("7"):
        break
    await until(lambda: service.readers == [])


async def test_closing_the_client_ends_its_iterators(service: FakeStreams) -> None:
    client = ExchangeClient(service.base_url)
    updates = client.stream.trades([market])
    reading = asyncio.create_task(anext(updates))
    await until(lambda: bool(service.readers and service.readers[0].positions))
    await client.aclose()
    with pytest.raises(StreamError, match="closed"):
        await reading


async def test_an_address_without_streams_is_an_error() -> None:
    async with ExchangeClient("http://127.0.0.1:9") as client:
        client.stream.connect_timeout_ms = 200
        with pytest.raises(StreamError, match="unreachable"):
            await anext(client.stream.book("7"))


async def test_many_books_resume_with_their_snapshots_in_few_frames(
    service: FakeStreams, client: ExchangeClient
) -> None:
    tokens = [str(number) for number in range(600)]
    updates = client.stream.books(tokens)
    for _ in tokens:
        await anext(updates)
    changed = set(tokens[::60])
    for token in changed:
        service.log.change_book(token)
    service.readers[-1].socket.transport.abort()
    seen = [await anext(updates) for _ in changed]
    # A book that did not change does not come again.
    assert {update.book.token_id for update in seen} == changed
    assert all((one.is_snapshot, one.gap, one.seq) == (True, True, 1) for one in seen)
    assert [len(frame["tokens"]) for frame in service.subscribes()] == [500, 100, 500, 100]  # type: ignore[arg-type]
    await updates.aclose()


async def test_many_resting_orders_come_in_parts_and_leave_by_their_names(
    service: FakeStreams, client: ExchangeClient
) -> None:
    service.orders_per_part = 3
    names = [f"{number:016x}" for number in range(8)]
    for name in names:
        service.log.change_order(market, name, "5")
    changes = client.stream.orders([market])
    snapshot = await anext(changes)
    assert isinstance(snapshot, OrdersSnapshot)
    assert [one.order for one in snapshot.orders] == names
    service.log.change_order(market, names[0], "2")
    service.log.change_order(market, names[1], "0")
    await service.push()
    smaller, removed = await anext(changes), await anext(changes)
    assert isinstance(smaller, OrderChange)
    assert isinstance(removed, OrderChange)
    assert (smaller.action, smaller.size) == ("change", Decimal(2))
    assert (removed.action, removed.order, removed.size) == ("remove", names[1], None)
    await changes.aclose()


async def test_a_snapshot_that_is_cut_between_its_parts_begins_again(
    service: FakeStreams, client: ExchangeClient
) -> None:
    service.orders_per_part = 2
    names = [f"{number:016x}" for number in range(5)]
    for name in names:
        service.log.change_order(market, name, "5")
    whole = Reader.parts

    def half(reader: Reader, snapshot: Json) -> list[Json]:
        return whole(reader, snapshot)[: 2 if service.connections == 1 else None]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reader, "parts", half)
        changes = client.stream.orders([market])
        reading = asyncio.create_task(anext(changes))
        await until(lambda: bool(service.readers and service.readers[0].positions))
        service.readers[0].socket.transport.abort()
        snapshot = await reading
    assert isinstance(snapshot, OrdersSnapshot)
    assert [one.order for one in snapshot.orders] == names
    assert [frame.get("from") for frame in service.subscribes()] == [None, None]
    await changes.aclose()


async def test_all_markets_are_those_that_are_listed_later_too(
    service: FakeStreams, client: ExchangeClient
) -> None:
    service.log.change_market(market, "OPEN")
    rules = client.stream.markets()
    assert (await anext(rules)).action is None
    service.log.change_market(other_market, "OPEN")
    service.log.change_market(market, "HALTED")
    await service.push()
    seen = [await anext(rules) for _ in range(2)]
    assert {(one.market, one.action) for one in seen} == {
        (market, "changed"),
        (other_market, "listed"),
    }
    # After a cut only what changed comes, as a snapshot.
    service.readers[0].socket.transport.abort()
    service.log.change_market(market, "OPEN")
    again = await anext(rules)
    assert (again.market, again.mode, again.gap, again.seq) == (market, "OPEN", True, 3)
    # A message that the service believes to have sent is missed by the sum of the numbers.
    connections = service.connections
    service.log.change_market(other_market, "POST_ONLY")
    service.readers[-1].positions["markets", other_market] = 2
    missed = await anext(rules)
    assert (missed.market, missed.mode) == (other_market, "POST_ONLY")
    assert service.connections == connections + 1
    await rules.aclose()


async def test_the_first_record_of_a_log_replaces_nothing(
    service: FakeStreams, client: ExchangeClient
) -> None:
    events = client.own.events()
    await anext(events)
    await anext(events)
    service.second_epoch = "ffffffffffffffff"
    service.readers[0].socket.transport.abort()
    service.log.fill_own(1)
    async with pushing(service):
        assert isinstance(await anext(events), OwnFill)
    await events.aclose()


async def test_an_iterator_that_joins_an_open_connection_notices_a_replaced_log(
    service: FakeStreams, client: ExchangeClient
) -> None:
    first = client.stream.trades([market], after={market: 0})
    joined = client.stream.trades([other_market], after={other_market: 0})
    service.log.trade(market)
    async with pushing(service):
        await anext(first)
    service.log.trade(other_market)
    async with pushing(service):
        await anext(joined)
    assert service.connections == 1
    reading = [asyncio.create_task(anext(one)) for one in (first, joined)]
    service.epoch = "ffffffffffffffff"
    service.readers[-1].socket.transport.abort()
    for one in reading:
        with pytest.raises(StreamGapError, match="replaced"):
            await asyncio.wait_for(one, timeout=30)


async def test_a_position_names_the_epoch_of_its_log(
    service: FakeStreams, client: ExchangeClient
) -> None:
    trades = client.stream.trades([market], after={market: 0})
    service.log.trade(market)
    async with pushing(service):
        await anext(trades)
    reading = asyncio.create_task(anext(trades))
    service.readers[-1].socket.transport.abort()
    await until(lambda: service.connections == 2 and len(service.subscribes()) == 2)
    assert service.subscribes()[-1]["from"] == {"seq": 1, "epoch": service.epoch}
    reading.cancel()
