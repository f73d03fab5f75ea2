"""Loops that say when what they have shown may be old, on a clock of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from exchange_client import FreshnessEvent
from exchange_client.streams.freshness import FreshnessWatch, Name

from . import virtual_clock

books: list[Name] = [("book", "7"), ("book", "8")]
own: Name = ("own", None)
none: frozenset[int] = frozenset()
Events = list[FreshnessEvent]


def watching(steps: Callable[[FreshnessWatch], Coroutine[Any, Any, None]]) -> Events:
    """What a watch reports that both books have begun on."""
    events: Events = []

    async def main() -> None:
        watch = FreshnessWatch(1_500, events.append)
        for name in books:
            watch.begin(name)
        await steps(watch)

    virtual_clock.run(main())
    return events


def test_keys_that_each_heartbeat_confirms_are_fresh_and_nothing_is_reported() -> None:
    async def steps(watch: FreshnessWatch) -> None:
        for _ in range(20):
            await asyncio.sleep(1)
            for name in books:
                watch.confirm(name, none)

    assert watching(steps) == []


def test_a_key_is_stale_half_a_second_after_a_heartbeat_was_due_and_fresh_with_the_next() -> None:
    async def steps(watch: FreshnessWatch) -> None:
        await asyncio.sleep(1)
        watch.confirm(books[0], none)
        await asyncio.sleep(0.6)
        # The other key has not been confirmed for 1.6 s.
        watch.confirm(books[1], none)
        await asyncio.sleep(45)
        watch.confirm(books[0], none)

    assert watching(steps) == [
        FreshnessEvent("stale", "book", "8"),
        FreshnessEvent("fresh", "book", "8"),
        FreshnessEvent("stale", "book", "7"),
        FreshnessEvent("stale", "book", "8"),
        FreshnessEvent("fresh", "book", "7"),
    ]


def test_partitions_that_are_not_live_are_named_with_each_change() -> None:
    async def steps(watch: FreshnessWatch) -> None:
        for still in (frozenset((3,)), frozenset((3,)), frozenset((3, 5)), none):
            watch.confirm(own, still)
        watch.end([*books, own])
        await asyncio.sleep(60)

    assert watching(steps) == [
        FreshnessEvent("stale", "own", None, frozenset((3,))),
        FreshnessEvent("stale", "own", None, frozenset((3, 5))),
        FreshnessEvent("fresh", "own", None),
    ]


def test_what_has_ended_is_not_reported() -> None:
    async def steps(watch: FreshnessWatch) -> None:
        watch.end(books)
        await asyncio.sleep(60)

    assert watching(steps) == []
