"""Fixtures: a fake exchange and a connected client."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from exchange_client import ExchangeClient, RetryPolicy, wallet_from_private_key

from .fake_exchange import FakeExchange

signer = wallet_from_private_key("0x" + "11" * 32)
#: Short pauses; the budget is long, since no test of it is judged by a clock.
quick = RetryPolicy(first_pause_ms=2, longest_pause_ms=10, total_ms=60_000)


@pytest.fixture
async def fake() -> AsyncIterator[FakeExchange]:
    async with FakeExchange() as exchange:
        yield exchange


@pytest.fixture
async def client(fake: FakeExchange) -> AsyncIterator[ExchangeClient]:
    async with ExchangeClient(fake.base_url, signer=signer, retry=quick) as one:
        await one.connect()
        yield one
