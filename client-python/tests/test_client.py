"""Requests, retries, cancels, paging."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from decimal import Decimal
from typing import cast

import pytest

from exchange_client import (
    Attempt,
    AttemptResponse,
    ExchangeClient,
    ExchangeError,
    HttpRequest,
    KeyOfWallet,
    OrderIntent,
    Reader,
    RetryPolicy,
    UnresolvedActionError,
    no_retries,
)
from exchange_client.gate import Gate

from .conftest import quick, signer
from .fake_exchange import Answer, FakeExchange, Heard, action_result


async def test_unconfirmed_cancels_are_repeated_and_only_those(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    answers = [
        {
            "canceled": ["0xa"],
            "not_canceled": {
                "0xb": "order could not be cancelled",
                "0xc": "order already matched",
            },
            "not_canceled_codes": {"0xb": "cancel_unconfirmed", "0xc": "already_matched"},
        },
        {"canceled": ["0xb"], "not_canceled": {}},
    ]
    fake.answer = lambda _heard: Answer(200, answers.pop(0))
    result = await client.cancel_orders(["0xa", "0xb", "0xc"])
    assert result.canceled == ["0xa", "0xb"]
    assert result.not_canceled == {"0xc": "order already matched"}
    assert result.not_canceled_codes == {"0xc": "already_matched"}
    bodies = [heard.body for heard in fake.received_at("/orders")]
    assert bodies == [["0xa", "0xb", "0xc"], ["0xb"]]


async def test_reads_and_cancels_are_repeated_until_they_have_a_response(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.answer = lambda _heard: Answer(200, {"canceled": [], "not_canceled": {}})
    fake.fates = [
        "lose the response",
        Answer(503, {"error": "x", "code": "cancel_unconfirmed"}),
    ]
    await client.cancel_all()
    assert len(fake.received_at("/cancel-all")) == 3
    fake.answer = lambda _heard: Answer(200, {"wallets": []})
    fake.fates = ["lose the request", Answer(502, "")]
    assert await client.own.balances() == []


async def test_connect_signs_for_each_attempt_as_one_that_failed_may_have_used_its_proof_up(
    fake: FakeExchange,
) -> None:
    # Longer than a millisecond, which is all that tells two proofs apart.
    slowly = RetryPolicy(first_pause_ms=20, longest_pause_ms=20, total_ms=60_000)
    now_ms = time.time_ns() // 1_000_000
    skew = {"error": "x", "code": "timestamp_skew"}
    fake.key_answers = [
        Answer(503, {"error": "x", "code": "overloaded"}),
        Answer(502, ""),
        Answer(409, {"error": "x", "code": "request_repeated"}),
        Answer(401, {**skew, "server_time": now_ms + 3_600_000}),
        Answer(401, {**skew, "server_time": now_ms + 7_200_000}),
    ]
    async with ExchangeClient(fake.base_url, signer=signer, retry=slowly) as client:
        await client.connect()
    assert len(fake.key_proofs) == 6
    assert len(set(fake.key_proofs)) == 6


async def test_an_account_action_keeps_its_id_over_all_attempts(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.answer = lambda _heard: Answer(200, action_result("a"))
    fake.fates = [
        "lose the response",
        Answer(503, {"code": "action_unconfirmed"}),
        Answer(503, {"code": "idempotency_in_progress"}),
        Answer(200, "page of a proxy"),
    ]
    result = await client.account.split("0x1", Decimal("5.50"))
    assert result.amount == Decimal("5.5")
    bodies = [cast("dict[str, str]", one.body) for one in fake.received_at("/account/split")]
    assert len(bodies) == 5
    assert len({body["id"] for body in bodies}) == 1
    assert {body["amount"] for body in bodies} == {"5.5"}


def refusal(code: str) -> Answer:
    return Answer(400, {"error": code, "code": code})


async def code_of_refusal(client: ExchangeClient) -> str:
    """The code of a split that is refused, with nothing done."""
    with pytest.raises(ExchangeError) as failure:
        await client.account.split("0x1", 5, id="pay-7")
    return failure.value.code


async def cause_of_doubt(client: ExchangeClient) -> ExchangeError:
    """The last failure of a split that is unresolved."""
    with pytest.raises(UnresolvedActionError) as failure:
        await client.account.split("0x1", 5, id="pay-7")
    assert failure.value.action_id == "pay-7"
    return cast("ExchangeError", failure.value.__cause__)


async def test_a_refusal_of_an_account_action_says_that_nothing_was_done_when_no_attempt_was_lost(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = [Answer(429, {"code": "rate_limited"}), refusal("closed_only")]
    assert await code_of_refusal(client) == "closed_only"


async def test_a_refusal_after_a_lost_attempt_leaves_an_account_action_unresolved_also_of_an_earlier_call(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = ["lose the response", refusal("closed_only"), refusal("user_banned")]
    assert (await cause_of_doubt(client)).code == "closed_only"
    fake.fates.insert(0, Answer(200, action_result("pay-7")))
    await client.account.withdraw(5, id="pay-7")
    assert (await cause_of_doubt(client)).code == "user_banned"


async def test_a_canceled_account_action_is_unresolved_for_later_calls(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.hangs = lambda _heard: True
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await client.account.split("0x1", 5, id="pay-7")
    fake.hangs = lambda _heard: False
    fake.fates = [refusal("closed_only")]
    assert (await cause_of_doubt(client)).code == "closed_only"


async def test_a_final_refusal_is_none_of_an_account_action_whose_earlier_attempt_is_lost(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = ["lose the response", refusal("market_resolved")]
    assert (await cause_of_doubt(client)).code == "market_resolved"


async def test_a_refusal_that_is_none_of_the_exchange_leaves_an_account_action_unresolved(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = [Answer(524, "page of a proxy")]
    assert (await cause_of_doubt(client)).status == 524


async def test_an_unsafe_request_is_repeated_only_when_nothing_was_done(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.answer = lambda _heard: Answer(200, {"apiKey": "made"})
    fake.fates = [Answer(429, {"error": "x", "code": "rate_limited"})]
    assert await client.keys.create_read_only_key() == "made"
    fake.fates = ["lose the response"]
    with pytest.raises(ExchangeError) as failure:
        await client.keys.create_read_only_key()
    error = failure.value
    assert (error.code, error.status, error.retryable) == ("no_answer", 0, True)
    assert len(fake.received_at("/auth/readonly-api-key")) == 3


async def test_trades_are_read_page_by_page_on_demand(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.answer = pages
    ids = [trade.id async for trade in client.own.trades(market="0x1")]
    assert ids == ["a", "b", "c"]
    async for trade in client.own.trades():
        if trade.id == "a":
            break
    assert len(fake.received_at("/data/trades")) == 3


def pages(heard: Heard) -> Answer:
    found: dict[str, tuple[list[str], str]] = {
        "MA==": (["a", "b"], "Mg=="),
        "Mg==": (["c"], "LTE="),
    }
    ids, following = found[heard.query["next_cursor"]]
    rows = [{**trade, "id": one} for one in ids]
    page = {"data": rows, "next_cursor": following, "limit": 2, "count": len(ids), "as_of": []}
    return Answer(200, page)


trade = {
    "taker_order_id": "0x1",
    "market": "0x1",
    "asset_id": "7",
    "side": "BUY",
    "size": "1.5",
    "fee_rate_bps": "0",
    "price": "0.52",
    "status": "CONFIRMED",
    "match_time": "1780315200",
    "last_update": "1780315200",
    "outcome": "Yes",
    "bucket_index": 0,
    "owner": "key",
    "maker_address": "0x2",
    "maker_orders": [],
    "transaction_hash": "0x" + "0" * 64,
    "trader_side": "TAKER",
    "type": "TRADE",
}


async def test_a_read_only_key_reads_without_an_api_key(fake: FakeExchange) -> None:
    fake.answer = lambda _heard: Answer(200, [])
    async with ExchangeClient(fake.base_url, reader=Reader(signer.address, "looker")) as watcher:
        await watcher.own.notifications()
    [heard] = fake.received_at("/notifications")
    assert heard.headers["service_readonly_api_key"] == "looker"
    assert "service_api_key" not in heard.headers


async def test_no_more_requests_than_allowed_run_and_cancels_do_not_wait_for_reads(
    fake: FakeExchange,
) -> None:
    fake.answer = lambda _heard: Answer(200, {"canceled": [], "not_canceled": {}})
    fake.delay_ms = 20
    order: list[str] = []
    async with ExchangeClient(fake.base_url, signer=signer, retry=quick, concurrency=2) as narrow:
        await narrow.connect()

        async def read() -> None:
            await narrow.read("/anything")
            order.append("read")

        async def cancel() -> None:
            await narrow.cancel_all()
            order.append("cancel")

        await asyncio.gather(*(read() for _ in range(10)), cancel())
    assert order.index("cancel") < 8
    assert fake.most_running <= 3


async def test_a_gate_limits_its_queue_and_serves_it_in_order() -> None:
    gate = Gate(concurrent=1, waiting=2)
    ended: list[int] = []

    async def run(number: int) -> None:
        async def action() -> None:
            await asyncio.sleep(0)
            ended.append(number)

        await gate.run(action, left_ms=60_000)

    accepted = [asyncio.create_task(run(number)) for number in (1, 2, 3)]
    await asyncio.sleep(0)
    with pytest.raises(ExchangeError) as failure:
        await run(4)
    assert failure.value.code == "client_overloaded"
    await asyncio.gather(*accepted)
    await run(5)
    assert ended == [1, 2, 3, 5]


async def test_an_attempt_ends_after_its_timeout(fake: FakeExchange) -> None:
    fake.delay_ms = 300
    fake.answer = lambda _heard: Answer(200, 1)
    async with ExchangeClient(fake.base_url, timeout_ms=30, retry=quick) as hasty:
        task = asyncio.create_task(hasty.public.time())
        async with asyncio.timeout(60):
            while len(fake.received_at("/time")) < 2:
                await asyncio.sleep(0.01)
        fake.delay_ms = 0
        assert await task == 1


async def test_a_signed_request_can_be_sent_by_other_tools(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    signed = client.sign_request(HttpRequest("POST", "/order", body={"text": "ä"}))
    assert signed.url == fake.base_url + "/order"
    assert signed.body == '{"text":"ä"}'
    assert signed.headers["SERVICE_API_KEY"] == "key"


async def test_secrets_are_not_in_texts_of_objects(client: ExchangeClient) -> None:
    shown = repr(client._connection.key) + repr(Reader("0x", "looker")) + repr(signer)
    assert "looker" not in shown
    assert "A" * 43 not in shown
    assert "11" * 32 not in shown


async def test_numbers_with_a_fraction_are_decimals(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.answer = lambda _heard: Answer(200, {"history": [{"t": 1780315200, "p": 0.1}]})
    [point] = await client.public.prices_history("7", interval="1d")
    assert point.p == Decimal("0.1")
    assert fake.received_at("/prices-history")[0].query == {"market": "7", "interval": "1d"}


intent = OrderIntent(token_id="7", side="BUY", price="0.5", size="10")


async def test_status_and_headers_of_each_response_can_be_seen_with_the_request_that_it_answers(
    fake: FakeExchange,
) -> None:
    seen: list[AttemptResponse] = []
    async with ExchangeClient(
        fake.base_url, signer=signer, retry=quick, on_response=seen.append
    ) as client:
        await client.connect()
        order = await client.prepare_order(intent)
        seen.clear()
        busy = {"error": "x", "code": "overloaded"}
        fake.fates = [Answer(503, busy, retry_after=1), "lose the request"]
        await client.post_order(order)
    assert [(one.attempt.tries, one.status) for one in seen] == [(1, 503), (3, 200)]
    assert all(one.attempt.body == order.submission for one in seen)
    assert seen[0].headers["Retry-After"] == "1"
    assert seen[1].headers["Content-Type"] == "application/json"


async def test_an_error_of_a_callback_for_attempts_and_responses_ends_no_call(
    fake: FakeExchange,
) -> None:
    surfaced: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: surfaced.append(str(context["exception"]))
    )

    def fails_before(attempt: Attempt) -> None:
        raise RuntimeError(f"attempt {attempt.path}")

    def fails_after(response: AttemptResponse) -> None:
        raise RuntimeError(f"response {response.attempt.path}")

    async with ExchangeClient(
        fake.base_url,
        signer=signer,
        retry=quick,
        on_attempt=fails_before,
        on_response=fails_after,
    ) as client:
        await client.connect()
        assert (await client.place_order(intent)).success
    assert surfaced[-2:] == ["attempt /order", "response /order"]


async def test_an_error_has_the_headers_of_its_response(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.fates = [Answer(400, {"error": "x", "code": "invalid_request"}, retry_after=9)]
    with pytest.raises(ExchangeError) as raised:
        await client.read("/anything")
    assert raised.value.headers["Retry-After"] == "9"


@pytest.mark.parametrize(
    ("placing", "canceling", "times"), [(no_retries, None, (1, 2)), (None, no_retries, (2, 1))]
)
async def test_calls_that_place_and_calls_that_cancel_have_retry_budgets_of_their_own(
    fake: FakeExchange,
    placing: RetryPolicy | None,
    canceling: RetryPolicy | None,
    times: tuple[int, int],
) -> None:
    fake.answer = lambda _heard: Answer(200, {"canceled": [], "not_canceled": {}})
    busy = Answer(503, {"error": "x", "code": "overloaded"})
    async with ExchangeClient(
        fake.base_url,
        signer=signer,
        retry=quick,
        retry_placing=placing,
        retry_canceling=canceling,
    ) as client:
        await client.connect()
        fake.fates = [busy]
        await client.place_orders([intent])
        fake.fates = [busy]
        with suppress(ExchangeError):
            await client.cancel_all()
    assert (len(fake.received_at("/orders")), len(fake.received_at("/cancel-all"))) == times


ahead = pytest.mark.parametrize(
    "ahead_ms", [-3_600_000, -299_000, -31_000, 31_000, 299_000, 3_600_000]
)


def nothing_canceled(_heard: Heard) -> Answer:
    return Answer(200, {"canceled": [], "not_canceled": {}})


@ahead
async def test_connect_corrects_a_clock_that_is_off_before_anything_else_is_refused_for_it(
    fake: FakeExchange, ahead_ms: int
) -> None:
    fake.ahead_ms, fake.answer = ahead_ms, nothing_canceled
    async with ExchangeClient(fake.base_url, signer=signer, retry=quick) as client:
        await client.connect()
        await client.cancel_all()
    [heard] = fake.received_at("/cancel-all")
    server_ms = time.time_ns() // 1_000_000 + ahead_ms
    # A date says no more than the second.
    assert abs(int(heard.headers["service_timestamp"]) - server_ms) < 30_000


@ahead
async def test_a_clock_that_is_off_is_corrected_by_the_first_refusal_where_there_was_no_connect(
    fake: FakeExchange, ahead_ms: int
) -> None:
    fake.ahead_ms, fake.answer = ahead_ms, nothing_canceled
    async with ExchangeClient(fake.base_url, retry=no_retries) as client:
        client.use_key(KeyOfWallet("key", "A" * 43 + "=", "p", signer.checksummed))
        with pytest.raises(ExchangeError) as failure:
            await client.cancel_all()
        assert failure.value.code == "timestamp_skew"
        await client.cancel_all()


async def test_a_clock_that_is_right_to_the_second_is_left_alone(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.ahead_ms, fake.answer = 0, nothing_canceled
    await client.connect()
    before_ms = time.time_ns() // 1_000_000
    await client.cancel_all()
    [heard] = fake.received_at("/cancel-all")
    sent_ms = int(heard.headers["service_timestamp"])
    assert before_ms <= sent_ms <= time.time_ns() // 1_000_000
