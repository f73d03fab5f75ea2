"""DataFrames have types, also without rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exchange_client import ExchangeClient

from .fake_exchange import Answer, FakeExchange, Heard

pd = pytest.importorskip("pandas", reason="the extra pandas is not installed")
frames = pytest.importorskip("exchange_client.pandas")

document = json.loads(
    (Path(__file__).parent.parent.parent / "docs/openapi.json").read_text("utf-8")
)


def example(path: str) -> Answer:
    content = document["paths"][path]["get"]["responses"]["200"]["content"]
    return Answer(200, content["application/json"]["example"])


def examples(heard: Heard) -> Answer:
    return example(heard.path)


async def test_candles_are_indexed_by_time_in_utc(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.answer = examples
    frame = await frames.candles(client, "7", interval="1h")
    assert str(frame.index.tz) == "UTC"
    assert frame.index.name == "time"
    assert frame.dtypes["close"] == "float64"
    assert frame.dtypes["count"] == "int64"
    assert len(frame) == len(example("/candles").body["candles"])  # type: ignore[index]


async def test_price_history_is_a_column_of_prices(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.answer = lambda _heard: Answer(200, {"history": [{"t": 1780315200, "p": 0.52}]})
    frame = await frames.prices_history(client, "7")
    assert list(frame["price"]) == [0.52]
    assert frame.index[0] == pd.Timestamp("2026-06-01T12:00:00Z")


async def test_trades_are_oldest_first(fake: FakeExchange, client: ExchangeClient) -> None:
    row = example("/trades").body[0]  # type: ignore[index]
    rows = [{**row, "timestamp": 1780315200 - age} for age in range(5)]
    fake.answer = lambda _heard: Answer(200, rows)
    frame = await frames.trades(client, rows_max=3)
    assert len(frame) == 3
    assert frame.index.is_monotonic_increasing
    assert str(frame.dtypes["side"]) == "category"


async def test_a_leaderboard_is_indexed_by_rank(fake: FakeExchange, client: ExchangeClient) -> None:
    fake.answer = examples
    frame = await frames.leaderboard(client, rows_max=100)
    assert frame.index.name == "rank"
    assert frame.dtypes["pnl"] == "float64"


async def test_frames_without_rows_have_their_types(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    fake.answer = lambda heard: Answer(200, {"candles": []} if heard.path == "/candles" else [])
    candles = await frames.candles(client, "7")
    assert candles.dtypes["close"] == "float64"
    assert str(candles.index.tz) == "UTC"
    assert str((await frames.trades(client)).index.tz) == "UTC"
    assert (await frames.leaderboard(client)).dtypes["vol"] == "float64"
