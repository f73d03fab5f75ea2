"""When subscriptions of a connection become stale, and when they are fresh again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from exchange_client.callbacks import call_guarded

from .frames import Channel


@dataclass(frozen=True, slots=True)
class FreshnessEvent:
    """What a subscription has shown may be old from here on (`stale`), or is of now again (`fresh`)."""

    state: Literal["stale", "fresh"]
    channel: Channel
    key: str | None
    """Token, condition or event id; None for all markets, and for `own`."""
    partitions: frozenset[int] = frozenset()
    """Its partitions that are not live.

    Empty in a `stale` event where no heartbeat has confirmed the subscription in time.
    """


OnFreshness: TypeAlias = Callable[[FreshnessEvent], None]
#: Channel and key of what is watched.
Name: TypeAlias = tuple[Channel, str | None]


@dataclass(slots=True)
class _Watched:
    confirmed_at: float
    is_overdue: bool = False
    still: frozenset[int] = frozenset()


class FreshnessWatch:
    """Of one connection. One that is replaced in time changes nothing.

    A key is watched, as fresh, from its first message on: before it there is nothing that can be old.
    """

    def __init__(self, stale_ms: int, on_freshness: OnFreshness | None) -> None:
        self._stale = stale_ms / 1000
        self._on_freshness = on_freshness
        self._watched: dict[Name, _Watched] = {}
        # Runs while a key is not overdue, until the first of them would be.
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, name: Name) -> None:
        """A message has come."""
        if name not in self._watched:
            self._watched[name] = _Watched(_now())
            self._set_timer()

    def confirm(self, name: Name, still: frozenset[int]) -> None:
        """A heartbeat lists it with nothing missing; `still`: those of its partitions that are not live."""
        watched = self._watched.get(name, _Watched(0.0))
        was_stale = watched.is_overdue or bool(watched.still)
        is_changed = watched.is_overdue or watched.still != still
        self._watched[name] = _Watched(_now(), still=still)
        self._set_timer()
        if still and is_changed:
            self._report("stale", name, still)
        elif not still and was_stale:
            self._report("fresh", name, still)

    def end(self, names: Iterable[Name]) -> None:
        for name in names:
            self._watched.pop(name, None)
        if not self._watched and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        if self._timer is not None:
            return
        waiting = [one.confirmed_at for one in self._watched.values() if not one.is_overdue]
        if waiting:
            due_at = min(waiting) + self._stale
            self._timer = asyncio.get_running_loop().call_at(due_at, self._find_overdue)

    def _find_overdue(self) -> None:
        self._timer = None
        now = _now()
        for name, watched in list(self._watched.items()):
            if not watched.is_overdue and watched.confirmed_at + self._stale <= now:
                watched.is_overdue = True
                self._report("stale", name, frozenset())
        self._set_timer()

    def _report(
        self, state: Literal["stale", "fresh"], name: Name, partitions: frozenset[int]
    ) -> None:
        on_freshness = self._on_freshness
        if on_freshness is not None:
            event = FreshnessEvent(state, *name, partitions)
            call_guarded(lambda: on_freshness(event))


def _now() -> float:
    return asyncio.get_running_loop().time()
