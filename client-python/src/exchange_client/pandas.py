"""Reads as DataFrames, with the extra `pandas`: times are UTC, numbers `float64` or `int64`.

Frames are for analysis: their prices and sizes are floats, and must not go back into orders. The
models of `client.public` keep exact decimals.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

import pandas as pd
from pydantic import BaseModel

from .client import ExchangeClient
from .eip712 import Side
from .public_reads import CandleInterval, HistoryInterval

Row = TypeVar("Row", bound=BaseModel)

_candle_columns = {
    "open": "float64",
    "high": "float64",
    "low": "float64",
    "close": "float64",
    "volume": "float64",
    "notional": "float64",
    "vwap": "float64",
    "count": "int64",
}
_trade_columns = {
    "side": "category",
    "price": "float64",
    "size": "float64",
    "usdc_size": "float64",
    "outcome": "string",
    "outcome_index": "int64",
    "asset": "string",
    "condition_id": "string",
    "proxy_wallet": "string",
    "transaction_hash": "string",
}
_leaderboard_columns = {
    "rank": "int64",
    "proxy_wallet": "string",
    "user_name": "string",
    "vol": "float64",
    "pnl": "float64",
}


async def candles(
    client: ExchangeClient,
    token_id: str,
    *,
    interval: CandleInterval = "1m",
    start: int | None = None,
    end: int | None = None,
    limit: int | None = None,
) -> pd.DataFrame:
    """Trades of a token in buckets, by the start of the bucket. Buckets without trades are absent."""
    rows = await client.public.candles(
        token_id, interval=interval, start=start, end=end, limit=limit
    )
    return _frame(rows, _candle_columns, [row.t for row in rows], "time")


async def prices_history(
    client: ExchangeClient,
    token_id: str,
    *,
    interval: HistoryInterval | None = "1d",
    start_ts: int | None = None,
    end_ts: int | None = None,
    fidelity: int | None = None,
) -> pd.DataFrame:
    """Midpoints of a token over time: a column `price`."""
    rows = await client.public.prices_history(
        token_id, interval=interval, start_ts=start_ts, end_ts=end_ts, fidelity=fidelity
    )
    frame = _frame(rows, {"p": "float64"}, [row.t for row in rows], "time")
    return frame.rename(columns={"p": "price"})


async def trades(
    client: ExchangeClient,
    *,
    user: str | None = None,
    market: Sequence[str] | None = None,
    side: Side | None = None,
    start: int | None = None,
    end: int | None = None,
    rows_max: int = 10_000,
) -> pd.DataFrame:
    """The newest trades of the public ledger, oldest first."""
    source = client.public.trades(user=user, market=market, side=side, start=start, end=end)
    rows = await _first(source, rows_max)
    rows.reverse()
    return _frame(rows, _trade_columns, [row.timestamp for row in rows], "time")


async def leaderboard(
    client: ExchangeClient,
    *,
    category: str | None = None,
    time_period: Literal["DAY", "WEEK", "MONTH", "ALL"] | None = None,
    order_by: Literal["PNL", "VOL"] | None = None,
    rows_max: int = 50,
) -> pd.DataFrame:
    """Traders by profit or volume, by rank."""
    rows = []
    for offset in range(0, rows_max, 50):
        page = await client.public.leaderboard(
            category=category,
            time_period=time_period,
            order_by=order_by,
            limit=min(50, rows_max - offset),
            offset=offset,
        )
        rows += page
        if len(page) < 50:
            break
    return _frame(rows, _leaderboard_columns).set_index("rank")


def _frame(
    rows: Iterable[BaseModel],
    columns: Mapping[str, str],
    seconds: Sequence[int] | None = None,
    index_name: str | None = None,
) -> pd.DataFrame:
    """Columns of rows with their types, also where there are no rows; the index is a time in UTC."""
    taken = list(rows)
    index = None
    if seconds is not None:
        index = pd.to_datetime(pd.Series(seconds, dtype="int64"), unit="s", utc=True)
    frame = pd.DataFrame(
        {
            name: pd.Series([_plain(getattr(row, name), kind) for row in taken], dtype=kind)
            for name, kind in columns.items()
        }
    )
    if index is not None:
        frame.index = pd.DatetimeIndex(index, name=index_name)
    return frame


def _plain(value: object, kind: str) -> object:
    return float(str(value)) if kind == "float64" and value is not None else value


async def _first(source: AsyncIterator[Row], rows_max: int) -> list[Row]:
    rows: list[Row] = []
    async for row in source:
        if len(rows) >= rows_max:
            break
        rows.append(row)
    return rows
