"""Cancels: what waits does not come after them, and no try forgets what it canceled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from exchange_client import ExchangeClient, ExchangeError, OrderIntent, RetryPolicy
from exchange_client.order import BuiltOrder

from .conftest import signer
from .fake_exchange import Answer, FakeExchange, Fate, Heard, stored_order

patient = RetryPolicy(first_pause_ms=20, longest_pause_ms=50, total_ms=10_000)
intent = OrderIntent(token_id="7", side="BUY", price="0.5", size="10")


def answered(heard: Heard) -> Answer:
    if heard.path == "/book":
        book = {"market": "0x01", "asset_id": "7", "timestamp": "1", "hash": "", "bids": []}
        more = {"asks": [], "min_order_size": "5", "tick_size": "0.01", "neg_risk": False}
        return Answer(200, {**book, **more, "last_trade_price": ""})
    return Answer(200, {"canceled": [], "not_canceled": {}})


def refused(status: int, code: str, **more: object) -> Answer:
    return Answer(status, {"error": code, "code": code, **more})


async def connected(fake: FakeExchange) -> ExchangeClient:
    fake.answer = answered
    client = ExchangeClient(fake.base_url, signer=signer, retry=patient)
    await client.connect()
    return client


async def sent(fake: FakeExchange, times: int) -> None:
    while len(fake.received_at("/order")) < times:
        await asyncio.sleep(0.005)


Cancel = Callable[[ExchangeClient, BuiltOrder], Awaitable[object]]
cancels: dict[str, Cancel] = {
    "its id": lambda client, order: client.cancel_order(order.order_id),
    "ids": lambda client, order: client.cancel_orders([order.order_id]),
    "its token": lambda client, _: client.cancel_market_orders(asset_id="7"),
    "its market": lambda client, _: client.cancel_market_orders(market="0x01"),
    "everything": lambda client, _: client.cancel_all(),
}


@pytest.mark.parametrize("of", list(cancels))
async def test_a_placement_that_waits_is_not_sent_any_more_after_a_cancel(
    fake: FakeExchange, of: str
) -> None:
    async with await connected(fake) as client:
        fake.fated_method = "POST"
        fake.fates = [refused(425, "partition_not_ready")] * 1_000
        order = await client.prepare_order(intent)
        placing = asyncio.create_task(client.post_order(order))
        await sent(fake, 2)
        await cancels[of](client, order)
        fake.fates = []
        assert (await placing).success is False
    assert list(fake.booked) == []


async def test_a_placement_goes_on_after_a_cancel_of_another_order_token_or_market(
    fake: FakeExchange,
) -> None:
    async with await connected(fake) as client:
        fake.fated_method = "POST"
        fake.fates = [refused(425, "partition_not_ready")] * 1_000
        placing = asyncio.create_task(client.post_order(await client.prepare_order(intent)))
        await sent(fake, 2)
        await client.cancel_order("0x" + "12" * 32)
        await client.cancel_market_orders(asset_id="8")
        await client.cancel_market_orders(market="0x02")
        fake.fates = []
        assert (await placing).success is True


async def test_an_order_on_its_way_when_all_are_canceled_is_canceled_by_its_id_too(
    fake: FakeExchange,
) -> None:
    async with await connected(fake) as client:
        fake.hangs = lambda heard: heard.method == "POST"
        order = await client.prepare_order(intent)
        placing = asyncio.create_task(client.post_order(order))
        await sent(fake, 1)
        result = await client.cancel_all()
        placing.cancel()
    assert [heard.body for heard in fake.received_at("/orders")] == [[order.order_id]]
    assert result.in_transit == [order.order_id]
    assert result.complete


async def test_a_result_is_incomplete_where_the_cancel_of_an_order_on_its_way_was_lost_or_failed(
    fake: FakeExchange,
) -> None:
    async with await connected(fake) as client:
        fake.hangs = lambda heard: heard.method == "POST"
        fake.fated_method = "DELETE"
        order = await client.prepare_order(intent)
        only = [order.order_id]
        placing = asyncio.create_task(client.post_order(order))
        await sent(fake, 1)
        partly = refused(503, "cancel_unconfirmed", canceled=only, not_canceled={})
        cases: list[tuple[list[Fate], list[str]]] = [
            (["lose the response"], []),
            ([refused(401, "invalid_l2")], []),
            ([partly, refused(401, "invalid_l2")], only),
        ]
        for fates, canceled in cases:
            fake.fates = ["serve", *fates]
            result = await client.cancel_all()
            assert (result.canceled, result.complete) == (canceled, False)
            assert result.in_transit == [one for one in only if one not in canceled]
        placing.cancel()


async def test_what_each_try_of_a_cancel_has_canceled_is_in_its_result(fake: FakeExchange) -> None:
    ids = ["0x" + digit * 64 for digit in "abc"]
    gone = {ids[0]: "order can't be found - already canceled or matched"}
    partly = refused(503, "cancel_unconfirmed", canceled=ids[:1], not_canceled={})
    async with await connected(fake) as client:
        fake.fates = [partly, Answer(200, {"canceled": ids[1:], "not_canceled": gone})]
        by_ids = await client.cancel_orders(ids)
        assert (by_ids.canceled, by_ids.not_canceled) == (ids, {})
        fake.fates = [partly, Answer(200, {"canceled": ids[1:], "not_canceled": {}})]
        assert (await client.cancel_all()).canceled == ids


ids = ["0x" + digit * 64 for digit in "abcd"]


async def test_orders_that_were_not_asked_for_in_an_overload_are_canceled_by_the_next_try(
    fake: FakeExchange,
) -> None:
    codes = {ids[1]: "overloaded", ids[2]: "already_matched"}
    partly = {"canceled": ids[:1], "not_canceled": codes, "not_canceled_codes": codes}
    async with await connected(fake) as client:
        fake.fates = [
            Answer(200, partly),
            Answer(200, {"canceled": ids[1:2], "not_canceled": {}}),
        ]
        result = await client.cancel_orders(ids[:3])
    assert result.canceled == ids[:2]
    assert result.not_canceled_codes == {ids[2]: "already_matched"}
    assert [heard.body for heard in fake.received_at("/orders")] == [ids[:3], ids[1:2]]


def lost_once(fake: FakeExchange, codes: dict[str, str]) -> None:
    """The first cancel loses its response; then these are the reasons, and the log is read."""

    def entry(order_id: str, reason: str) -> dict[str, object]:
        order = {**cast("dict[str, object]", stored_order(order_id)["order"]), "reason": reason}
        return {"order_id": order_id, "status": 200, "order": {**order, "status": "CANCELED"}}

    def answer(heard: Heard) -> Answer:
        if heard.path == "/data/orders":
            return Answer(207, [entry(ids[0], "user"), entry(ids[1], "expired")])
        body = {"canceled": [], "not_canceled": codes, "not_canceled_codes": codes}
        return Answer(200, body)

    fake.answer = answer
    fake.fated_method = "DELETE"
    fake.fates = ["lose the response"]


async def test_a_cancel_whose_first_response_was_lost_names_what_it_has_canceled_by_the_log(
    fake: FakeExchange,
) -> None:
    gone = dict.fromkeys(ids[:2], "order_not_found")
    others = {ids[2]: "order_unknown", ids[3]: "already_matched"}
    async with await connected(fake) as client:
        lost_once(fake, {**gone, **others})
        result = await client.cancel_orders(ids)
        assert result.canceled == ids[:1]
        assert result.not_canceled_codes == {ids[1]: "order_not_found", **others}
        read = [heard.body for heard in fake.received_at("/data/orders")]
        assert read == [[{"orderId": ids[0]}, {"orderId": ids[1]}]]
        lost_once(fake, {ids[0]: "order_not_found"})
        one = await client.cancel_order(ids[0])
        assert (one.canceled, one.not_canceled, one.not_canceled_codes) == (ids[:1], {}, None)


async def test_a_cancel_whose_first_response_was_lost_says_by_the_log_that_it_stopped_what_was_on_its_way(
    fake: FakeExchange,
) -> None:
    def entry(order_id: str, code: str) -> dict[str, object]:
        order = {**cast("dict[str, object]", stored_order(order_id)["order"]), "reason": code}
        return {"order_id": order_id, "status": 200, "order": {**order, "code": code}}

    refusal = {"status": 404, "error": "order not found", "code": "fenced"}
    found = [entry(ids[0], "fenced"), {"order_id": ids[1], **refusal}, entry(ids[2], "too_late")]
    async with await connected(fake) as client:
        lost_once(fake, dict.fromkeys(ids[:3], "order_not_found"))
        answer = fake.answer
        fake.answer = lambda heard: Answer(207, found) if heard.method == "POST" else answer(heard)
        result = await client.cancel_orders(ids[:3])
    text = "order was canceled before it reached the book"
    assert result.canceled == []
    assert result.not_canceled == {**dict.fromkeys(ids[:2], text), ids[2]: "order_not_found"}
    codes = {**dict.fromkeys(ids[:2], "fenced"), ids[2]: "order_not_found"}
    assert result.not_canceled_codes == codes


async def test_what_cannot_be_read_after_a_lost_response_stays_as_it_is(fake: FakeExchange) -> None:
    codes = {ids[0]: "order_not_found"}
    async with await connected(fake) as client:
        lost_once(fake, codes)
        answer = fake.answer
        fake.answer = lambda heard: (
            refused(503, "overloaded") if heard.method == "POST" else answer(heard)
        )
        result = await client.cancel_order(ids[0])
        assert (result.canceled, result.not_canceled_codes) == ([], codes)
        before = len(fake.received_at("/data/orders"))
        assert (await client.cancel_order(ids[0])).not_canceled_codes == codes
        assert len(fake.received_at("/data/orders")) == before


async def test_a_cancel_that_names_no_orders_says_that_its_list_may_lack_some(
    fake: FakeExchange,
) -> None:
    async with await connected(fake) as client:
        assert (await client.cancel_all()).complete
        fates: list[Fate] = ["lose the response", refused(425, "partition_not_ready")]
        for fate in fates:
            fake.fates = [fate]
            assert not (await client.cancel_all()).complete
        fake.fates = [refused(429, "rate_limited")]
        assert (await client.cancel_market_orders(asset_id="7")).complete


async def test_what_tries_have_canceled_is_in_the_error_when_the_last_one_fails(
    fake: FakeExchange,
) -> None:
    partly = refused(503, "cancel_unconfirmed", canceled=["0xaa"], not_canceled={})
    async with await connected(fake) as client:
        fake.fates = [partly, refused(401, "invalid_l2")]
        with pytest.raises(ExchangeError) as of_all:
            await client.cancel_all()
        codes = {"0xbb": "cancel_unconfirmed"}
        body = {"canceled": ["0xaa"], "not_canceled": codes, "not_canceled_codes": codes}
        fake.fates = [Answer(200, body), refused(401, "invalid_l2")]
        with pytest.raises(ExchangeError) as of_ids:
            await client.cancel_orders(["0xaa", "0xbb"])
    for raised in (of_all, of_ids):
        assert raised.value.code == "invalid_l2"
        assert isinstance(raised.value.body, dict)
        assert raised.value.body["canceled"] == ["0xaa"]
