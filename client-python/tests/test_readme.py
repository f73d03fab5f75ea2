"""The snippets of the README run, against fakes."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from exchange_client import KeyOfWallet, wallet_from_private_key

from . import fake_streams
from .fake_exchange import Answer, FakeExchange, Heard, test_key
from .test_pandas import examples

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
from run_readme import private_key, run, snippets


def answer(heard: Heard) -> Answer:
    if heard.path == "/v1/heartbeats":
        return Answer(200, {"heartbeat_id": "beat"})
    if heard.method == "DELETE":
        return Answer(200, {"canceled": [], "not_canceled": {}})
    if heard.path == "/balances":
        return Answer(200, {"wallets": []})
    if heard.path == "/data/orders":
        page = {"data": [], "next_cursor": "LTE=", "limit": 100, "count": 0, "as_of": []}
        return Answer(200, page)
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


def test_the_readme_names_each_extra() -> None:
    root = Path(__file__).parent.parent
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    readme = (root / "README.md").read_text()
    assert set(re.findall(r"client-python\[(\w+)\]", readme)) == set(extras) == {"fast", "pandas"}


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
    # The fakes of requests and streams are two servers.
    monkeypatch.setattr(
        "exchange_client.streams.streams.stream_url",
        lambda _base_url: f"ws://127.0.0.1:{streams.port}/v1/stream",
    )
    await run(snippets[number], fake.base_url, "7")
