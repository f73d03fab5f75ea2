"""A limit of concurrent requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from .errors import ExchangeError, canceled_code, overloaded_code

T = TypeVar("T")


class Gate:
    """Limits concurrent actions and the queue of waiting ones, in order of arrival."""

    def __init__(self, *, concurrent: int, waiting: int) -> None:
        self._slots = asyncio.Semaphore(concurrent)
        self._waiting_max = waiting
        self._waiting = 0

    async def run(
        self,
        action: Callable[[], Awaitable[T]],
        *,
        left_ms: float,
        ended: asyncio.Event | None = None,
    ) -> T:
        """Raises an `ExchangeError` without starting the action.

        With the code `client_overloaded` when too many wait already or its time of `left_ms` ends,
        `client_canceled` when it is `ended`.
        """
        if ended is not None and ended.is_set():
            raise _canceled()
        if left_ms <= 0:
            raise _late()
        if self._slots.locked():
            await self._wait(left_ms / 1000, ended)
        else:
            await self._slots.acquire()
        try:
            return await action()
        finally:
            self._slots.release()

    async def _wait(self, seconds: float, ended: asyncio.Event | None) -> None:
        if self._waiting >= self._waiting_max:
            raise _unsent(f"more than {self._waiting_max} requests of this client wait to be sent")
        self._waiting += 1
        turn = asyncio.create_task(self._slots.acquire())
        end = asyncio.create_task((ended or asyncio.Event()).wait())
        try:
            await asyncio.wait((turn, end), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if end.done():
                raise _canceled()
            if not turn.done():
                raise _late()
        except BaseException:
            # A slot that came at the same moment goes to the next.
            if not turn.cancel():
                self._slots.release()
            raise
        finally:
            end.cancel()
            self._waiting -= 1


def _late() -> ExchangeError:
    return _unsent("the retry budget of the call ended before the request was sent")


def _unsent(error: str) -> ExchangeError:
    return ExchangeError(503, {"error": error, "code": overloaded_code})


def _canceled() -> ExchangeError:
    error = "a cancel or a missed session of this client came before the request was sent"
    return ExchangeError(503, {"error": error, "code": canceled_code})
