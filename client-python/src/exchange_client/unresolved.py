"""What calls could not learn of their requests, for later calls with the same ones."""

from __future__ import annotations

from typing import Generic, TypeVar

V = TypeVar("V")

_unresolved_max = 10_000
"""Requests of a client whose outcome is open; past the limit the oldest are forgotten."""


class Unresolved(Generic[V]):
    """By request what a call has left open."""

    def __init__(self) -> None:
        self._values: dict[str, V] = {}

    def get(self, key: str) -> V | None:
        """None for a request that has a result, or that no call has left open."""
        return self._values.get(key)

    def note(self, key: str, value: V) -> None:
        self._values[key] = value
        if len(self._values) > _unresolved_max:
            del self._values[next(iter(self._values))]

    def note_resolved(self, key: str) -> None:
        self._values.pop(key, None)
