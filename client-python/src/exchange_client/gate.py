"""A limit of concurrent requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from .errors import ExchangeError, overloaded_code

T = TypeVar("T")


class Gate:
    """Limits concurrent actions and the queue of waiting ones, in order of arrival."""

    def __init__(self, *, concurrent: int, waiting: int) -> None:
        self._slots = asyncio.Semaphore(concurrent)
        self._waiting_max = waiting
        self._waiting = 0

    async def run(self, action: Callable[[], Awaitable[T]]) -> T:
        """Raises an `ExchangeError` with the code `client_overloaded` when too many wait already."""
        if self._slots.locked():
            if self._waiting >= self._waiting_max:
                error = f"more than {self._waiting_max} requests of this client wait to be sent"
                raise ExchangeError(503, {"error": error, "code": overloaded_code})
            self._waiting += 1
            try:
                await self._slots.acquire()
            finally:
                self._waiting -= 1
        else:
            await self._slots.acquire()
        try:
            return await action()
        finally:
            self._slots.release()
