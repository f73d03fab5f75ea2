"""The chain of heartbeats (sessions.md)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import cast

import pytest

from exchange_client import ExchangeClient, ExchangeError, OrderIntent, no_retries

from .conftest import signer
from .fake_exchange import Answer, FakeExchange, Heard


class Chain:
    """The id that the next beat has to name; empty without a session."""

    def __init__(self, fake: FakeExchange) -> None:
        self.expected = ""
        self.beats = 0
        self._fake = fake
        fake.answer = self.answer

    def answer(self, heard: Heard) -> Answer:
        named = cast("dict[str, str]", heard.body)["heartbeat_id"]
        if named not in ("", self.expected):
            error = "Invalid Heartbeat ID"
            body = {"error": error, "error_msg": error, "code": "invalid_heartbeat"}
            return Answer(400, {**body, "heartbeat_id": self.expected})
        self.beats += 1
        self.expected = f"beat-{self.beats}"
        return Answer(200, {"heartbeat_id": self.expected})

    def named(self) -> list[str]:
        heard = self._fake.received_at("/v1/heartbeats")
        return [cast("dict[str, str]", one.body)["heartbeat_id"] for one in heard]


@pytest.fixture
def chain(fake: FakeExchange) -> Chain:
    return Chain(fake)


async def until(is_true: Callable[[], bool]) -> None:
    for _ in range(15_000):
        if is_true():
            return
        await asyncio.sleep(0.002)
    raise TimeoutError("the condition did not become true")


async def test_the_loop_follows_the_ids_and_sends_nothing_after_its_stop(
    chain: Chain, client: ExchangeClient
) -> None:
    heartbeat = client.start_heartbeat(interval_ms=10)
    await heartbeat.started()
    await until(lambda: heartbeat.beats >= 4)
    await heartbeat.stop()
    received = chain.named()
    assert received[:4] == ["", "beat-1", "beat-2", "beat-3"]
    await asyncio.sleep(0.05)
    assert len(chain.named()) == len(received)


async def test_a_beat_whose_response_was_lost_is_no_miss(
    fake: FakeExchange, chain: Chain, client: ExchangeClient
) -> None:
    misses: list[int] = []
    fake.fates = ["serve", "lose the response"]
    heartbeat = client.start_heartbeat(interval_ms=10, on_miss=lambda: misses.append(1))
    await until(lambda: heartbeat.beats >= 3)
    await heartbeat.stop()
    assert chain.named()[:4] == ["", "beat-1", "beat-1", "beat-2"]
    assert misses == []


async def test_a_miss_is_reported_and_a_new_session_begins(
    chain: Chain, client: ExchangeClient
) -> None:
    misses: list[int] = []
    heartbeat = client.start_heartbeat(interval_ms=10, on_miss=lambda: misses.append(1))
    await until(lambda: heartbeat.beats >= 2)
    chain.expected = ""
    before = chain.beats
    await until(lambda: len(misses) == 1 and chain.beats > before)
    await heartbeat.stop()
    assert misses == [1]
    assert chain.named().count("") == 2


async def test_a_miss_ends_the_placements_that_wait_to_be_sent(
    fake: FakeExchange, chain: Chain
) -> None:
    fake.hangs = lambda heard: heard.path == "/order"
    intent = OrderIntent(token_id="7", side="BUY", price="0.5", size="10")
    async with ExchangeClient(
        fake.base_url, signer=signer, retry=no_retries, concurrency=1
    ) as narrow:
        await narrow.connect()
        orders = [await narrow.prepare_order(intent) for _ in range(2)]
        first, second = (asyncio.create_task(narrow.post_order(one)) for one in orders)
        heartbeat = narrow.start_heartbeat(interval_ms=10)
        await until(lambda: heartbeat.beats >= 2 and len(fake.received_at("/order")) == 1)
        chain.expected = ""
        assert (await second).code == "client_canceled"
        await heartbeat.stop()
        first.cancel()
    assert len(fake.received_at("/order")) == 1


async def test_a_refused_signature_ends_the_loop_and_is_reported(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = [Answer(401, {"error": "Unauthorized/Invalid api key", "code": "invalid_l2"})]
    reported: list[bool] = []
    heartbeat = client.start_heartbeat(on_error=lambda _error, is_over: reported.append(is_over))
    with pytest.raises(ExchangeError) as failure:
        await heartbeat.started()
    assert failure.value.code == "invalid_l2"
    assert reported == [True]
    await heartbeat.stop()


async def test_a_clock_that_is_off_is_corrected_and_the_beats_go_on(
    fake: FakeExchange, chain: Chain, client: ExchangeClient
) -> None:
    server_ms = time.time_ns() // 1_000_000 + 3_600_000
    skew = {"error": "TIMESTAMP_SKEW", "code": "timestamp_skew", "server_time": server_ms}
    fake.fates = ["serve", "serve", Answer(401, skew)]
    heard: list[tuple[Exception, bool]] = []
    heartbeat = client.start_heartbeat(
        interval_ms=10, on_error=lambda error, is_over: heard.append((error, is_over))
    )
    await until(lambda: heartbeat.beats >= 4)
    await heartbeat.stop()
    [(error, is_over)] = heard
    assert isinstance(error, ExchangeError)
    assert (error.code, is_over) == ("timestamp_skew", False)
    times = [int(one.headers["service_timestamp"]) for one in fake.received_at("/v1/heartbeats")]
    assert [time_ms >= server_ms for time_ms in times[:4]] == [False, False, False, True]
    assert chain.beats >= 4


@pytest.mark.parametrize("ahead_ms", [-60_000, 60_000])
async def test_a_clock_that_is_off_fails_no_beat(
    fake: FakeExchange, chain: Chain, client: ExchangeClient, ahead_ms: int
) -> None:
    fake.ahead_ms = ahead_ms
    await client.connect()
    failures: list[Exception] = []
    heartbeat = client.start_heartbeat(
        interval_ms=10, on_error=lambda error, _is_over: failures.append(error)
    )
    await until(lambda: heartbeat.beats >= 3)
    await heartbeat.stop()
    assert failures == []
    assert chain.beats >= 3


def surfacing() -> list[object]:
    """Errors that no caller gets, from here on."""
    found: list[object] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: found.append(context.get("exception"))
    )
    return found


def refused(_heard: Heard) -> Answer:
    return Answer(401, {"error": "x", "code": "invalid_l2"})


async def test_the_end_of_a_heartbeat_without_a_listener_goes_to_the_loop(
    fake: FakeExchange, chain: Chain, client: ExchangeClient
) -> None:
    surfaced = surfacing()
    heartbeat = client.start_heartbeat(interval_ms=10)
    await heartbeat.started()
    fake.answer = refused
    await until(lambda: bool(surfaced))
    await heartbeat.stop()
    assert [cast("ExchangeError", one).code for one in surfaced] == ["invalid_l2"]
    assert chain.beats > 0


async def test_so_does_one_before_the_first_beat_unless_its_start_is_waited_for(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    surfaced = surfacing()
    fake.answer = refused
    heartbeat = client.start_heartbeat()
    await until(lambda: bool(surfaced))
    await heartbeat.stop()
    awaited = client.start_heartbeat()
    with pytest.raises(ExchangeError):
        await awaited.started()
    await awaited.stop()
    assert len(surfaced) == 1


async def test_a_callback_that_raises_ends_no_heartbeat(
    fake: FakeExchange, chain: Chain, client: ExchangeClient
) -> None:
    surfaced = surfacing()
    fake.fates = ["serve", Answer(503, {"error": "x", "code": "overloaded"})]

    def fail(*_of: object) -> None:
        raise ValueError("of a callback")

    heartbeat = client.start_heartbeat(interval_ms=10, on_miss=fail, on_error=fail)
    await until(lambda: heartbeat.beats >= 2)
    chain.expected = ""
    before = chain.beats
    await until(lambda: chain.beats > before + 2)
    await heartbeat.stop()
    assert [str(one) for one in surfaced] == ["of a callback"] * 2


async def test_a_beat_does_not_wait_behind_cancels_and_reads_that_get_no_response(
    fake: FakeExchange, chain: Chain
) -> None:
    fake.hangs = lambda heard: heard.path != "/v1/heartbeats"
    async with ExchangeClient(fake.base_url, signer=signer, concurrency=2) as narrow:
        await narrow.connect()
        waiting = [asyncio.create_task(narrow.cancel_order("0x01")) for _ in range(4)]
        reads = [asyncio.create_task(narrow.read("/anything")) for _ in range(4)]
        await until(lambda: len(fake.received) == 4)
        heartbeat = narrow.start_heartbeat(interval_ms=10)
        await heartbeat.started()
        await heartbeat.stop()
        assert not any(one.done() for one in waiting)
        for task in (*waiting, *reads):
            task.cancel()
    assert chain.beats >= 1
