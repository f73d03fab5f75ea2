"""Seeded histories against an exchange behind a network that loses, delays and refuses anything.

A client ends with what the log says, or says that it does not know. Each protection is removed once,
by what the client hears or by how it is called, and then the histories must find that.
"""

from __future__ import annotations

import asyncio
import json
import random
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias, cast

import httpx
import pytest

from exchange_client import (
    BuiltOrder,
    ExchangeClient,
    ExchangeError,
    KeyOfWallet,
    OrderIntent,
    Placement,
    RetryPolicy,
    UnresolvedActionError,
    UnresolvedOrdersError,
)

from .conftest import signer as wallet
from .fake_exchange import action_result, published, refused_result, test_domain
from .model_exchange import ModelExchange, page
from .virtual_clock import run

policy = RetryPolicy(first_pause_ms=100, longest_pause_ms=500, total_ms=4_000)
timeout_ms = 1_500
intent = OrderIntent(token_id="7", side="BUY", price="0.5", size="10")
histories_max = 200
fault_percents = (40, 70, 95)
#: Nothing that was sent arrives later.
everything_arrives_seconds = 5

Ending: TypeAlias = list[Placement] | UnresolvedOrdersError | ExchangeError


class UnprovenSigner:
    """The model proves nothing, so that signatures need not be computed."""

    address = wallet.address
    checksummed = wallet.checksummed

    def sign(self, _digest: bytes) -> str:
        return "0x" + "11" * 65


class Parts:
    """Of one history."""

    def __init__(
        self, seed: int, hear: Callable[[ModelExchange], httpx.AsyncBaseTransport]
    ) -> None:
        self.draw = random.Random(seed)
        self.model = ModelExchange(self.draw)
        self._http = httpx.AsyncClient(transport=hear(self.model))

    def client(self, retry: RetryPolicy = policy) -> ExchangeClient:
        one = ExchangeClient(
            "http://model",
            signer=UnprovenSigner(),
            domain=test_domain,
            timeout_ms=timeout_ms,
            retry=retry,
            concurrency=2,
            http=self._http,
        )
        one.use_key(KeyOfWallet("key", "A" * 43 + "=", "p", "0x00"))
        return one


History: TypeAlias = Callable[[Parts], Awaitable[list[str]]]


def first_wrong(
    history: History,
    hear: Callable[[ModelExchange], httpx.AsyncBaseTransport] = lambda model: model,
) -> tuple[int, list[str]] | None:
    """The first seed whose history shows something wrong, with it; None when none does."""
    for seed in range(1, histories_max + 1):

        async def one(seed: int = seed) -> list[str]:
            return await history(Parts(seed, hear))

        wrong = run(one())
        if wrong:
            return seed, wrong
    return None


@pytest.fixture(autouse=True)
def _salts(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)
    monkeypatch.setattr("secrets.randbelow", draw.randrange)
    monkeypatch.setattr("secrets.randbits", draw.getrandbits)
    monkeypatch.setattr("uuid.uuid4", lambda: uuid.UUID(int=draw.getrandbits(128), version=4))


async def ending_of(placing: Awaitable[list[Placement]]) -> Ending:
    try:
        return await placing
    except (UnresolvedOrdersError, ExchangeError) as error:
        return error


def results_of(ending: Ending) -> Sequence[Placement | None]:
    if isinstance(ending, ExchangeError):
        return ()
    return ending.results if isinstance(ending, UnresolvedOrdersError) else ending


def placed_ids(ending: Ending) -> set[str]:
    return {one.order_id for one in results_of(ending) if one is not None and one.success}


def said_of(ending: Ending, count: int) -> list[bool | None]:
    """What a call says of each of its orders: None where it does not know."""
    if isinstance(ending, ExchangeError):
        return [False] * count
    return [None if one is None else one.success for one in results_of(ending)]


def posted(
    again: Callable[[Parts, ExchangeClient], ExchangeClient] = lambda _parts, client: client,
    retry: RetryPolicy = policy,
) -> History:
    """Orders of one request, posted until the client knows of all, or three times."""

    async def history(parts: Parts) -> list[str]:
        draw, model, clock = parts.draw, parts.model, asyncio.get_running_loop().time
        client = parts.client(retry)
        orders = [await client.prepare_order(intent) for _ in range(draw.randint(1, 3))]
        said: dict[str, bool | None] = {}
        wrong: list[str] = []
        for _call in range(3):
            if not orders:
                break
            started_at = clock()
            model.fault_percent = draw.choice(fault_percents)
            ending = await ending_of(client.post_orders(orders))
            took_ms = (clock() - started_at) * 1000
            last_ms = (model.posted[-1][0] - started_at) * 1000
            if took_ms > policy.total_ms + timeout_ms + 1 or last_ms > policy.total_ms:
                wrong.append(f"a call of {took_ms} ms")
            said |= zip(
                (order.order_id for order in orders), said_of(ending, len(orders)), strict=True
            )
            orders = list[BuiltOrder](getattr(ending, "orders", ()))
            client = again(parts, client)
        await asyncio.sleep(everything_arrives_seconds)
        for order_id, says in said.items():
            if says is not None and says != (model.log.get(order_id) == "booked"):
                wrong.append(f"says {says} of {model.log.get(order_id)}")
        return wrong

    return history


async def place(client: ExchangeClient, count: int) -> Ending:
    return await ending_of(client.place_orders([intent] * count))


def placed(placing: Callable[[ExchangeClient, int], Awaitable[Ending]] = place) -> History:
    """Intents: whatever is booked is known, and nothing is signed beside an order that may be booked."""

    async def history(parts: Parts) -> list[str]:
        model = parts.model
        count = parts.draw.randint(1, 3)
        model.fault_percent = parts.draw.choice(fault_percents)
        ending = await placing(parts.client(), count)
        await asyncio.sleep(everything_arrives_seconds)
        ids = {one for _at, sent in model.posted for one in sent}
        known = placed_ids(ending) | {one.order_id for one in getattr(ending, "orders", ())}
        booked = {one for one in ids if model.log.get(one) == "booked"}
        wrong = [f"nobody knows of {one}" for one in booked - known]
        if len([one for one in ids if model.log.get(one) != "too_late"]) > count:
            wrong.append("another order was signed")
        return wrong

    return history


def canceled(canceling: Callable[[Parts, ExchangeClient], ExchangeClient]) -> History:
    """Placements, some waiting, and a cancel of all: what waits is not sent, what was sent is known."""

    async def history(parts: Parts) -> list[str]:
        model, clock = parts.model, asyncio.get_running_loop().time
        model.fault_percent = 30
        client = parts.client()
        placing = [asyncio.create_task(place(client, 1)) for _ in range(parts.draw.randint(1, 8))]
        await asyncio.sleep(parts.draw.uniform(0, 0.2))
        canceled_at = clock()
        result = await canceling(parts, client).cancel_all()
        later = set(model.booked_since_cancel)
        endings = [await one for one in placing]
        await asyncio.sleep(everything_arrives_seconds)
        known = set(result.in_transit).union(*(placed_ids(one) for one in endings))
        wrong = [f"nobody knows of {one}" for one in (later | model.booked_since_cancel) - known]
        if any(at > canceled_at for at, _ids in model.posted):
            wrong.append("sent after the cancel")
        return wrong

    return history


def paid(
    id_of_error: Callable[[UnresolvedActionError], str | None] = lambda error: error.action_id,
    again: Callable[[Parts, ExchangeClient], ExchangeClient] = lambda _parts, client: client,
) -> History:
    """A caller that wants one split.

    It repeats one that is unresolved with the id of the error, and after a refusal begins another one.
    """

    async def history(parts: Parts) -> list[str]:
        draw, model = parts.draw, parts.model
        client = parts.client(RetryPolicy(100, 500, draw.choice((0, 2_000))))
        says: bool | None = None
        named: str | None = None
        for _call in range(4):
            model.fault_percent = draw.choice(fault_percents)
            try:
                await client.account.split("0x1", "5", id=named)
                says = True
                break
            except UnresolvedActionError as error:
                says, named = None, id_of_error(error)
            except ExchangeError:
                says, named = False, None
            client = again(parts, client)
        await asyncio.sleep(everything_arrives_seconds)
        done = list(model.actions.values()).count("done")
        is_right = done <= 1 if says is None else done == int(says)
        return [] if is_right else [f"says {says} where {done} are done"]

    return history


def test_the_client_says_of_each_posted_order_what_the_log_says_or_that_it_does_not_know() -> None:
    assert first_wrong(posted()) is None


def test_the_client_knows_every_order_that_it_signed_and_signs_none_beside_one_that_may_be_booked() -> (
    None
):
    assert first_wrong(placed()) is None


def test_nothing_that_waits_is_sent_once_all_orders_were_canceled_and_what_was_sent_is_known() -> (
    None
):
    assert first_wrong(canceled(lambda _parts, client: client)) is None


def test_the_client_says_of_each_account_action_what_the_log_says_or_that_it_does_not_know() -> (
    None
):
    assert first_wrong(paid()) is None


class Silence(httpx.AsyncBaseTransport):
    """No request gets a response."""

    def __init__(self) -> None:
        self.started_at: list[float] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/neg-risk":
            return httpx.Response(200, json={"neg_risk": False})
        self.started_at.append(asyncio.get_running_loop().time())
        await asyncio.sleep(1_000)
        raise httpx.ReadError("reset")


def test_no_attempt_starts_after_the_retry_budget_of_its_call_whatever_the_call_waited_for() -> (
    None
):
    async def main() -> tuple[list[float], float]:
        silence = Silence()
        client = ExchangeClient(
            "http://model",
            signer=UnprovenSigner(),
            domain=test_domain,
            timeout_ms=900,
            retry=policy,
            concurrency=2,
            http=httpx.AsyncClient(transport=silence),
        )
        client.use_key(KeyOfWallet("key", "A" * 43 + "=", "p", "0x00"))
        order = await client.prepare_order(intent)
        clock = asyncio.get_running_loop().time
        called_at = clock()
        await asyncio.gather(*(ending_of(client.post_orders([order])) for _ in range(24)))
        return [at - called_at for at in silence.started_at], clock() - called_at

    started, took = run(main())
    assert len(started) > 2
    assert max(started) * 1000 <= policy.total_ms
    assert took * 1000 <= policy.total_ms + 900 + 1


class OneResponse(httpx.AsyncBaseTransport):
    """Most of the budget passes until the first read is answered; what follows never is."""

    def __init__(self) -> None:
        self.started_at: list[float] = []
        self.is_answered = False

    async def handle_async_request(self, _request: httpx.Request) -> httpx.Response:
        now = asyncio.get_running_loop().time()
        self.started_at.append(now)
        if self.is_answered or (now - self.started_at[0]) * 1000 < policy.total_ms / 2:
            await asyncio.sleep(1_000)
        self.is_answered = True
        return httpx.Response(200, json={**published(test_domain), "neg_risk": False})


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.place_order(intent),
        lambda client: client.connect(),
        lambda client: client.verify_signing_domain(),
    ],
    ids=["place_order", "connect", "verify_signing_domain"],
)
def test_a_call_has_one_retry_budget_also_where_it_fetches_the_signing_domain(
    call: Callable[[ExchangeClient], Awaitable[object]],
) -> None:
    async def main() -> OneResponse:
        network = OneResponse()
        client = ExchangeClient(
            "http://model",
            signer=UnprovenSigner(),
            timeout_ms=900,
            retry=policy,
            http=httpx.AsyncClient(transport=network),
        )
        client.use_key(KeyOfWallet("key", "A" * 43 + "=", "p", "0x00"))
        with pytest.raises(ExchangeError):
            await call(client)
        return network

    network = run(main())
    assert network.is_answered
    assert (max(network.started_at) - network.started_at[0]) * 1000 <= policy.total_ms


class BelievesRefusals(httpx.AsyncBaseTransport):
    """Each refusal of an order is heard as one that the matcher remembers, and the log has nothing."""

    def __init__(self, model: ModelExchange) -> None:
        self._model = model

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._model.handle_async_request(request)
        if request.url.path.startswith("/data/order/"):
            return httpx.Response(404, json={})
        if not request.url.path.startswith("/order") or response.text == page:
            return response
        body = json.loads(response.content)
        results = [
            refused_result("fok_not_filled") if one.get("success") is False else one
            for one in cast("list[dict[str, object]]", body if isinstance(body, list) else [body])
        ]
        return httpx.Response(
            response.status_code, json=results if isinstance(body, list) else results[0]
        )


def test_the_histories_find_a_client_that_believes_a_refusal_of_an_order_in_doubt() -> None:
    assert first_wrong(posted(), BelievesRefusals) is not None


class BelievesSilence(httpx.AsyncBaseTransport):
    """The client hears of a log that cannot be read that it has nothing."""

    def __init__(self, model: ModelExchange) -> None:
        self._model = model

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        nothing = httpx.Response(404, json={})
        try:
            response = await self._model.handle_async_request(request)
        except httpx.ReadError:
            if request.url.path.startswith("/data/order/"):
                return nothing
            raise
        is_read = response.status_code in (200, 404)
        return response if is_read or request.url.path.startswith("/order") else nothing


def test_the_histories_find_a_client_that_takes_a_log_that_cannot_be_read_for_one_without_the_order() -> (
    None
):
    assert first_wrong(posted(), BelievesSilence) is not None


def test_the_histories_find_a_client_that_forgets_between_calls_what_may_be_on_the_log() -> None:
    assert first_wrong(posted(lambda parts, _client: parts.client())) is not None


def test_the_histories_find_a_client_without_a_deadline() -> None:
    assert first_wrong(posted(retry=RetryPolicy(100, 500, 60_000))) is not None


def test_the_histories_find_a_client_that_signs_another_order_for_an_unknown_one() -> None:
    async def impatient(client: ExchangeClient, count: int) -> Ending:
        ending = await place(client, count)
        return await place(client, count) if isinstance(ending, UnresolvedOrdersError) else ending

    assert first_wrong(placed(impatient)) is not None


def test_the_histories_find_placements_that_wait_on_when_all_orders_are_canceled() -> None:
    assert first_wrong(canceled(lambda parts, _client: parts.client())) is not None


class HearsOfActions(httpx.AsyncBaseTransport):
    """Responses to account actions are heard as others."""

    def __init__(
        self, model: ModelExchange, hear: Callable[[httpx.Response], httpx.Response]
    ) -> None:
        self._model = model
        self._hear = hear

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._model.handle_async_request(request)
        return self._hear(response) if request.url.path.startswith("/account/") else response


def test_the_histories_find_an_account_action_that_is_repeated_under_another_id() -> None:
    assert first_wrong(paid(lambda _error: None)) is not None


def test_the_histories_find_a_client_that_forgets_between_calls_what_may_be_carried_out() -> None:
    assert first_wrong(paid(again=lambda parts, _client: parts.client())) is not None


def test_the_histories_find_a_client_that_takes_every_200_for_the_result_of_an_action() -> None:
    def readable(response: httpx.Response) -> httpx.Response:
        return httpx.Response(200, json=action_result("")) if response.is_success else response

    assert first_wrong(paid(), lambda model: HearsOfActions(model, readable)) is not None
