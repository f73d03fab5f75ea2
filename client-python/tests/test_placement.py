"""Orders are sent until their result is known."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import formatdate

import pytest

from exchange_client import (
    ExchangeClient,
    ExchangeError,
    OrderIntent,
    Placement,
    RetryPolicy,
    UnresolvedOrdersError,
)
from exchange_client._model import parse
from exchange_client.errors import overloaded_code
from exchange_client.models import StoredOrder
from exchange_client.sent_order import SentOrder, attempt_life_seconds, placement_of, refused
from exchange_client.server_clock import ServerClock

from .conftest import quick, signer
from .fake_exchange import (
    Answer,
    FakeExchange,
    Fate,
    placed_result,
    refused_result,
    stored_order,
)

intent = OrderIntent(token_id="7", side="BUY", price="0.5", size="10")
impatient = RetryPolicy(first_pause_ms=20, longest_pause_ms=100, total_ms=1_000)
once = RetryPolicy(first_pause_ms=2, longest_pause_ms=10, total_ms=0)


def away(status: int, code: str) -> Answer:
    return Answer(status, {"error": code, "code": code})


def refusal(status: int, code: str, retry_after: int | None = None) -> Answer:
    """The response to a single refused order: the status of its refusal and the full result."""
    return Answer(status, {**refused_result(code), "error": code}, retry_after)


@asynccontextmanager
async def connected(fake: FakeExchange, retry: RetryPolicy) -> AsyncIterator[ExchangeClient]:
    async with ExchangeClient(fake.base_url, signer=signer, retry=retry) as one:
        await one.connect()
        yield one


async def test_an_order_whose_response_was_lost_is_sent_again_as_the_same_order(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = ["lose the response", "lose the request", away(502, "")]
    order = await client.prepare_order(intent)
    result = await client.post_order(order)
    assert (result.success, result.order_id, result.status) == (True, order.order_id, "live")
    assert list(fake.booked) == [order.order_id]
    texts = [heard.text for heard in fake.received_at("/order")]
    assert len(texts) == 4
    assert len(set(texts)) == 1


async def test_the_client_waits_as_long_as_the_exchange_requests(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = [refusal(425, "partition_not_ready", retry_after=1)]
    started_at = time.monotonic()
    assert (await client.place_order(intent)).success
    assert time.monotonic() - started_at >= 1
    assert len(fake.received_at("/order")) == 2


async def test_an_order_that_is_not_confirmed_yet_is_sent_again_as_the_same_order(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = [refusal(503, "order_unconfirmed")]
    order = await client.prepare_order(intent)
    result = await client.post_order(order)
    assert (result.success, result.order_id) == (True, order.order_id)
    fake.fates = [Answer(200, [refused_result("order_unconfirmed")])]
    [again] = await client.post_orders([order])
    assert (again.success, again.order_id) == (True, order.order_id)
    assert (len(fake.received_at("/order")), len(fake.received_at("/orders"))) == (2, 2)
    assert list(fake.booked) == [order.order_id]


async def test_an_order_that_was_too_late_for_its_book_is_signed_anew(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = [refusal(400, "too_late")]
    result = await client.place_order(intent)
    texts = [heard.text for heard in fake.received_at("/order")]
    assert (len(texts), len(set(texts))) == (2, 2)
    assert list(fake.booked) == [result.order_id]
    fake.fates = [refusal(400, "too_late"), refusal(400, "too_late")]
    assert (await client.post_order(await client.prepare_order(intent))).code == "too_late"
    assert (await client.place_order(intent, time_to_book_ms=250)).code == "too_late"
    assert len(fake.received_at("/order")) == 4


async def test_a_refusal_is_a_result_and_so_is_a_mode_of_an_operator(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = [refusal(400, "invalid_size"), refusal(503, "cancel_only")]
    assert (await client.place_order(intent)).code == "invalid_size"
    assert (await client.place_order(intent)).code == "cancel_only"
    assert len(fake.received_at("/order")) == 2


async def test_of_a_batch_only_orders_without_a_definite_result_are_sent_again(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    orders = [await client.prepare_order(intent) for _ in range(4)]
    ids = [order.order_id for order in orders]
    fake.fates = [
        Answer(
            200,
            [
                placed_result(ids[0]),
                refused_result("overloaded"),
                placed_result(ids[2], "delayed"),
                refused_result("fok_not_filled"),
            ],
        )
    ]
    results = await client.post_orders(orders)
    assert [result.code or result.order_id for result in results] == [*ids[:3], "fok_not_filled"]
    again = fake.received_at("/orders")[1]
    assert again.body == [orders[1].submission, orders[2].submission]


async def test_a_delayed_order_is_a_result_where_the_caller_does_not_wait(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    order = await client.prepare_order(intent)
    fake.fates = [Answer(200, placed_result(order.order_id, "delayed"))]
    assert (await client.post_order(order, await_delayed=False)).status == "delayed"


async def test_a_batch_refused_as_a_whole_has_a_result_for_each_order(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = [away(409, "system_paused")]
    results = await client.place_orders([intent, intent])
    assert [(one.success, one.code) for one in results] == [(False, "system_paused")] * 2


async def test_a_request_that_is_wrong_as_a_whole_is_an_error_with_a_code(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = [away(401, "invalid_l2")]
    with pytest.raises(ExchangeError) as failure:
        await client.place_orders([intent])
    assert (failure.value.code, failure.value.retryable) == ("invalid_l2", False)


async def test_when_the_budget_ends_a_booked_order_is_read_from_the_log(fake: FakeExchange) -> None:
    async with connected(fake, impatient) as hasty:
        order = await hasty.prepare_order(intent)
        fake.fated_method = "POST"
        fake.fates = ["lose the response"] * 400
        result = await hasty.post_order(order)
    assert (result.success, result.status) == (True, "live")
    assert result.order is not None
    assert result.order.id == order.order_id
    assert result.making_amount is None


async def test_when_the_budget_ends_a_refused_order_is_read_from_the_log(
    fake: FakeExchange,
) -> None:
    async with connected(fake, once) as hasty:
        order = await hasty.prepare_order(intent)
        fake.refused[order.order_id] = "fok_not_filled"
        fake.fates = ["lose the request"]
        result = await hasty.post_order(order)
    assert (result.success, result.code) == (False, "fok_not_filled")


async def test_a_refusal_that_the_matcher_does_not_remember_leaves_open_another_attempt(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    order = await client.prepare_order(intent)
    unfunded = "insufficient_balance_or_allowance"
    # The first attempt is lost, the second one refused, and so the log has it.
    fake.fates = ["lose the request", refusal(400, unfunded), away(404, unfunded)]
    result = await client.post_order(order)
    assert (result.success, result.order_id) == (True, order.order_id)
    assert list(fake.booked) == [order.order_id]


async def test_such_a_refusal_counts_once_no_lost_attempt_can_come_to_the_book_any_more(
    client: ExchangeClient,
) -> None:
    order = await client.prepare_order(intent)
    refusal_of_log = refused("insufficient_balance_or_allowance", "")
    results: list[Placement | None] = []
    for ago in (attempt_life_seconds - 1, attempt_life_seconds + 1):
        sent = SentOrder(order, lost_at=time.monotonic() - ago)
        sent.note(refusal_of_log, await_delayed=True)
        sent.note_log(refusal_of_log)
        results.append(sent.result)
    assert results == [None, refusal_of_log]


async def test_a_refusal_for_good_ends_no_order_in_doubt_while_the_log_cannot_be_read(
    client: ExchangeClient,
) -> None:
    order = await client.prepare_order(intent)
    refusal_for_good = refused("invalid_size", "")
    results: list[Placement | None] = []
    for is_read in (False, True):
        sent = SentOrder(order, lost_at=time.monotonic())
        sent.note(refusal_for_good, await_delayed=True)
        if is_read:
            sent.note_unknown()
        sent.conclude()
        results.append(sent.result)
    assert results == [None, refusal_for_good]


async def test_an_attempt_for_which_no_time_was_left_does_not_hide_what_the_exchange_has_said(
    client: ExchangeClient,
) -> None:
    order = await client.prepare_order(intent)
    unsent = ExchangeError(503, {"error": "too late", "code": overloaded_code})
    codes: list[str | None] = []
    for before in ([refused("partition_not_ready", "")], []):
        sent = SentOrder(order, lost_at=None)
        for earlier in before:
            sent.note(earlier, await_delayed=True)
        sent.note_failure(unsent)
        sent.conclude()
        assert sent.result is not None
        codes.append(sent.result.code)
    assert codes == ["partition_not_ready", overloaded_code]


async def test_a_call_that_is_canceled_leaves_its_order_in_doubt(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    order = await client.prepare_order(intent)
    fake.delay_ms = 300
    call = asyncio.create_task(client.post_order(order))
    await asyncio.sleep(0.1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    unfunded = "insufficient_balance_or_allowance"
    fake.fates = [refusal(400, unfunded), away(404, unfunded)]
    fake.delay_ms = 0
    assert (await client.post_order(order)).success


async def test_an_unknown_order_is_unresolved_and_can_be_sent_again(fake: FakeExchange) -> None:
    async with connected(fake, once) as hasty:
        orders = [await hasty.prepare_order(intent) for _ in range(2)]
        fake.fates = ["lose the request"]
        with pytest.raises(UnresolvedOrdersError) as failure:
            await hasty.post_orders(orders)
        assert list(failure.value.orders) == orders
        assert all(one.success for one in await hasty.post_orders(failure.value.orders))


async def test_an_order_that_was_never_accepted_has_its_last_refusal(fake: FakeExchange) -> None:
    async with connected(fake, impatient) as hasty:
        fake.fates = [refusal(425, "partition_not_ready")] * 400
        result = await hasty.place_order(intent)
    assert result.code == "partition_not_ready"
    assert all(heard.path == "/order" for heard in fake.received)


async def test_the_time_to_book_is_sent_with_every_attempt(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    before_ms = int(time.time() * 1000)
    fake.fates = ["lose the request", "lose the response"]
    await client.place_order(intent, time_to_book_ms=5_000)
    headers = [heard.headers for heard in fake.received_at("/order")]
    left = [int(one["service_time_to_book_ms"]) for one in headers]
    assert left[0] == 5_000
    assert left[2] < 5_000
    until = {int(one["service_valid_until_ms"]) for one in headers}
    assert len(until) == 1
    assert {int(one["service_first_sent_ms"]) + 5_000 for one in headers} == until
    # The clock of the exchange is known to a second or better; clocks here and there are one.
    assert before_ms + 5_000 <= min(until) <= time.time() * 1000 + 6_001
    await client.place_order(intent)
    names = fake.received_at("/order")[-1].headers
    times = ("service_time_to_book_ms", "service_valid_until_ms", "service_first_sent_ms")
    assert not any(name in names for name in times)


@pytest.mark.parametrize("code", ["too_late", "self_trade", "a_later_code"])
def test_an_order_that_was_held_and_then_refused_as_the_log_says_was_not_placed(code: str) -> None:
    stored = parse(StoredOrder, {**stored_order("0x01"), "status": "CANCELED", "reason": code})
    held = placement_of(stored.model_copy(update={"code": code}))
    assert (held.success, held.code) == (False, code)
    rested = placement_of(stored)
    assert (rested.success, rested.status) == (True, "canceled")


def test_the_clock_of_the_exchange_is_known_by_the_dates_of_responses() -> None:
    clock = ServerClock()
    assert clock.latest_ms(0) is None
    clock.note(None, sent_at=0, received_at=1)
    assert clock.latest_ms(0) is None
    start, ahead = 1_767_225_600, 12.345
    for count in range(200):
        at = count * 1.037
        date = formatdate(start + at + ahead, usegmt=True)
        clock.note(date, sent_at=at - 0.005, received_at=at + 0.005)
        over_ms = (clock.latest_ms(at) or 0) - (start + at + ahead) * 1000
        assert 0 <= over_ms <= (1_005 if count < 100 else 50)


@pytest.mark.parametrize("seed", [20_260_601, 1, 2])
async def test_under_random_faults_every_order_is_booked_once_or_refused(
    fake: FakeExchange, seed: int
) -> None:
    draw = random.Random(seed)
    kinds: list[Fate] = [
        "serve",
        "serve",
        "lose the response",
        "lose the request",
        away(503, "overloaded"),
        away(500, "internal_error"),
        away(429, "rate_limited"),
        refusal(425, "partition_not_ready"),
    ]
    fake.fates = [draw.choice(kinds) for _ in range(200)]
    fake.refuses = lambda order_id: int(order_id[-1], 16) % 4 == 0
    placed: list[str] = []
    refused: list[str] = []
    async with connected(fake, quick) as client:
        for _ in range(15):
            orders = [await client.prepare_order(intent) for _ in range(draw.randint(1, 4))]
            results = await client.post_orders(orders)
            assert len(results) == len(orders)
            for order, result in zip(orders, results, strict=True):
                (placed if result.success else refused).append(order.order_id)
                assert not result.success or result.order_id == order.order_id
    assert sorted(placed) == sorted(fake.booked)
    assert sorted(refused) == sorted(fake.refused)
    assert min(len(placed), len(refused)) > 0


@pytest.mark.parametrize(
    ("status", "stored"),
    [
        ("canceled", {"status": "CANCELED", "reason": "user"}),
        ("matched", {"status": "MATCHED", "reason": "matched", "size_matched": "10"}),
        ("matched", {"status": "CANCELED", "reason": "remainder", "size_matched": "2"}),
    ],
)
async def test_the_repetition_of_an_order_that_has_ended_says_how_and_has_the_order(
    fake: FakeExchange, client: ExchangeClient, status: str, stored: dict[str, str]
) -> None:
    order = await client.prepare_order(intent)
    await client.post_order(order)
    fake.stored = dict(stored)
    repeated = {**placed_result(order.order_id), "repeated": True, "alive": False}
    fake.fates = [Answer(200, repeated)]
    again = await client.post_order(order)
    assert (again.success, again.status, again.repeated, again.alive) == (True, status, True, False)
    assert again.order is not None
    assert again.order.status == stored["status"]


async def test_an_order_that_was_canceled_while_its_response_was_lost_is_canceled_and_not_live(
    fake: FakeExchange,
) -> None:
    async with connected(fake, impatient) as hasty:
        order = await hasty.prepare_order(intent)
        fake.fated_method = "POST"
        fake.fates = ["lose the response"] * 400
        fake.stored = {"status": "CANCELED", "reason": "user"}
        result = await hasty.post_order(order)
    assert (result.success, result.status, result.alive) == (True, "canceled", False)
