"""The snippets of the README run, against fakes or against the exchange at PM_BASE_URL."""

from __future__ import annotations

import re
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import cast

import pytest

from exchange_client import KeyOfWallet, wallet_from_private_key

from . import fake_streams
from .fake_exchange import Answer, FakeExchange, Heard, test_key
from .test_pandas import examples

page = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
snippets = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
private_key = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"


def answer(heard: Heard) -> Answer:
    if heard.path == "/v1/heartbeats":
        return Answer(200, {"heartbeat_id": "beat"})
    if heard.method == "DELETE":
        return Answer(200, {"canceled": [], "not_canceled": {}})
    if heard.path == "/balances":
        return Answer(200, {"wallets": []})
    if heard.path == "/data/orders":
        return Answer(200, {"data": [], "next_cursor": "LTE=", "limit": 100, "count": 0})
    if heard.path == "/events/keyset":
        return Answer(200, {"events": []})
    return examples(heard)


@pytest.fixture
async def streams(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[fake_streams.FakeStreams]:
    address = wallet_from_private_key(private_key).checksummed
    key = KeyOfWallet(test_key["apiKey"], test_key["secret"], test_key["passphrase"], address)
    monkeypatch.setattr(fake_streams, "own_key", key)
    async with fake_streams.FakeStreams() as service:
        yield service


def test_the_readme_has_snippets() -> None:
    assert len(snippets) >= 5


@pytest.mark.parametrize("number", range(len(snippets)))
async def test_a_snippet_of_the_readme_runs(
    number: int,
    fake: FakeExchange,
    streams: fake_streams.FakeStreams,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "pandas" in snippets[number]:
        pytest.importorskip("pandas", reason="the extra pandas is not installed")
    fake.answer = answer
    names: dict[str, object] = {
        "base_url": fake.base_url,
        "token": "7",
        "private_key": private_key,
        "signer": wallet_from_private_key(private_key),
    }
    # The fakes of requests and streams are two servers.
    monkeypatch.setattr(
        "exchange_client.streams.streams.stream_url",
        lambda _base_url: f"ws://127.0.0.1:{streams.port}/v1/stream",
    )
    head = "from exchange_client import ExchangeClient\nasync def snippet():\n"
    if "signer =" in snippets[number]:
        names.pop("signer")
    exec(head + textwrap.indent(snippets[number], "    "), names)
    await cast("Callable[[], Awaitable[None]]", names["snippet"])()
