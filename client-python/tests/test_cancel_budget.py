"""What cancels wait for, on a clock of the test."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import httpx
import pytest

from exchange_client import (
    ExchangeClient,
    ExchangeError,
    KeyOfWallet,
    OrderIntent,
    RetryPolicy,
    UnresolvedOrdersError,
)

from .conftest import signer
from .fake_exchange import Answer, test_domain
from .virtual_clock import run

a, b = ("0x" + digit * 64 for digit in "ab")
intent = OrderIntent(token_id="7", side="BUY", price="0.5", size="10")


@dataclass(frozen=True)
class Sent:
    route: str
    body: object
    at: float


Reply: TypeAlias = Answer | Literal["no response", "lost"]


class Network(httpx.AsyncBaseTransport):
    """Answers by the method and path of a request."""

    def __init__(self, answer: Callable[[str, Sequence[Sent]], Reply]) -> None:
        self.sent: list[Sent] = []
        self._answer = answer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        route = f"{request.method} {request.url.path}"
        text = request.content.decode()
        self.sent.append(Sent(route, json.loads(text) if text else None, now()))
        answer = self._answer(route, self.sent)
        if answer == "lost":
            raise httpx.ReadError("reset")
        if answer == "no response":
            await asyncio.sleep(1_000)
            raise httpx.ReadError("reset")
        headers = {} if answer.retry_after is None else {"Retry-After": str(answer.retry_after)}
        return httpx.Response(answer.status, json=answer.body, headers=headers)

    def to(self, route: str) -> list[Sent]:
        return [one for one in self.sent if one.route == route]


def now() -> float:
    return asyncio.get_running_loop().time()


def client_of(network: Network, total_ms: int) -> ExchangeClient:
    policy = RetryPolicy(first_pause_ms=100, longest_pause_ms=500, total_ms=total_ms)
    client = ExchangeClient(
        "http://model",
        signer=signer,
        domain=test_domain,
        concurrency=1,
        retry_canceling=policy,
        http=httpx.AsyncClient(transport=network),
    )
    client.use_key(KeyOfWallet("key", "A" * 43 + "=", "p", "0x00"))
    return client


def not_canceled(codes: dict[str, str], canceled: Sequence[str] = ()) -> Answer:
    body = {"canceled": list(canceled), "not_canceled": codes, "not_canceled_codes": codes}
    return Answer(200, body)


@pytest.mark.parametrize(
    ("total_ms", "most_ms"),
    [(30_000, 1_000), (800, 400)],
    ids=["a_second", "half_of_a_smaller_budget"],
)
def test_a_cancel_by_market_does_not_wait_long_for_the_market_of_what_has_no_response(
    total_ms: int, most_ms: int
) -> None:
    def answer(route: str, _sent: Sequence[Sent]) -> Reply:
        if route == "GET /neg-risk":
            return Answer(200, {"neg_risk": False})
        return not_canceled({}) if route.startswith("DELETE") else "no response"

    async def main() -> float:
        network = Network(answer)
        client = client_of(network, total_ms)
        placing = asyncio.create_task(client.place_order(intent))
        while not network.to("POST /order"):
            await asyncio.sleep(0.001)
        called_at = now()
        await client.cancel_market_orders(market="0x01")
        [canceling] = network.to("DELETE /cancel-market-orders")
        with contextlib.suppress(ExchangeError, UnresolvedOrdersError):
            await placing
        return canceling.at - called_at

    assert run(main()) * 1000 <= most_ms + 1


def test_what_a_lost_cancel_has_canceled_is_read_within_its_budget_and_else_left_as_it_is() -> None:
    codes = {a: "order_not_found"}

    def answer(route: str, sent: Sequence[Sent]) -> Reply:
        if route == "POST /data/orders":
            return "no response"
        return "lost" if len(sent) == 1 else not_canceled(codes)

    async def main() -> None:
        network = Network(answer)
        called_at = now()
        result = await client_of(network, 2_000).cancel_order(a)
        assert (now() - called_at) * 1000 <= 2_001
        assert len(network.to("POST /data/orders")) == 1
        assert (result.canceled, result.not_canceled_codes) == ([], codes)

    run(main())


@pytest.mark.parametrize(
    "later", [Answer(503, {"error": "x", "code": "overloaded"}), "lost"], ids=["refused", "lost"]
)
def test_orders_whose_repeated_cancel_fails_until_the_budget_ends_have_the_reason_of_the_try_before(
    later: Reply,
) -> None:
    codes = {b: "overloaded"}

    def answer(_route: str, sent: Sequence[Sent]) -> Reply:
        return not_canceled(codes, [a]) if len(sent) == 1 else later

    async def main() -> None:
        network = Network(answer)
        result = await client_of(network, 2_000).cancel_orders([a, b])
        assert (result.canceled, result.not_canceled_codes) == ([a], codes)
        assert len(network.sent) > 2
        assert network.sent[-1].body == [b]

    run(main())


def test_a_cancel_that_is_to_wait_longer_than_its_budget_is_not_sent_again() -> None:
    limited = Answer(429, {"error": "x"}, retry_after=9)

    def answer(_route: str, sent: Sequence[Sent]) -> Reply:
        return not_canceled({b: "overloaded"}, [a]) if len(sent) == 1 else limited

    async def main() -> None:
        network = Network(answer)
        result = await client_of(network, 2_000).cancel_orders([a, b])
        assert (result.canceled, result.not_canceled_codes) == ([a], {b: "overloaded"})
        assert [one.route for one in network.sent] == ["DELETE /orders", "DELETE /orders"]

    run(main())
