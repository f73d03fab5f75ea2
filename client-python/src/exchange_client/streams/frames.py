"""Frames of `/v1/stream`: JSON text, one object each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal, TypeAlias, cast

Json: TypeAlias = dict[str, object]
Channel: TypeAlias = Literal[
    "book", "best", "orders", "trades", "markets", "activity", "comments", "own"
]

#: Field of a subscribe frame that carries the keys of a channel.
key_fields: dict[Channel, str] = {
    "book": "tokens",
    "best": "tokens",
    "orders": "markets",
    "trades": "markets",
    "markets": "markets",
    "activity": "markets",
    "comments": "events",
}

#: Frames that carry data of a subscription.
data_types = frozenset(("snapshot", "delta", "event", "checksum", "state"))


@dataclass(frozen=True, slots=True, order=True)
class LogPosition:
    """Where a message comes from: the input record of a partition, and the event within it."""

    partition: int
    offset: int
    index: int


def parse_frame(text: str | bytes) -> Json:
    """A frame of the server. Raises `ValueError` when it is no JSON object."""
    frame = json.loads(text, parse_float=Decimal)
    if not isinstance(frame, dict):
        raise ValueError("a frame is a JSON object")
    return cast("Json", frame)


def frame_text(frame: Json) -> str:
    return json.dumps(frame, separators=(",", ":"))


def text_of(frame: Json, name: str) -> str:
    value = frame.get(name)
    return "" if value is None else str(value)


def int_of(frame: Json, name: str, default: int = 0) -> int:
    value = frame.get(name)
    return int(value) if isinstance(value, int | str | Decimal) else default


def rows_of(frame: Json, name: str) -> list[Json]:
    """A list of objects; absent is empty."""
    rows = frame.get(name)
    return (
        [cast("Json", row) for row in rows if isinstance(row, dict)]
        if isinstance(rows, list)
        else []
    )


def position_of(frame: Json) -> LogPosition:
    at = frame.get("at")
    place = cast("Json", at) if isinstance(at, dict) else {}
    return LogPosition(int_of(place, "partition"), int_of(place, "offset"), int_of(place, "index"))


def time_of(frame: Json) -> datetime:
    """The clock of the partition, UTC."""
    return datetime.fromtimestamp(int_of(frame, "time") / 1000, UTC)


def own_key(partition: int) -> str:
    """`own` counts per partition."""
    return str(partition)


def all_markets_key(partition: int) -> str:
    """What heartbeats count as one: all markets of a partition."""
    return f"*{partition}"


def heartbeat_key(channel: str, row: Json) -> str:
    """The key of a row with the newest `seq` of a subscription."""
    key, partition = text_of(row, "key"), int_of(row, "partition")
    if channel == "own":
        return own_key(partition)
    return all_markets_key(partition) if key == "*" else key


def key_of(frame: Json) -> str:
    """The key that `seq` of a data frame counts for. `own` counts per partition."""
    match frame.get("channel"):
        case "book" | "best":
            return text_of(frame, "token")
        case "comments":
            return text_of(frame, "event")
        case "own":
            return own_key(position_of(frame).partition)
        case _:
            return text_of(frame, "market")
