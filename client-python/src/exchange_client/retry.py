"""The retry budget of requests, and the pauses between attempts."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from .errors import ExchangeError, proves_nothing_done

T = TypeVar("T")

Repeatable: TypeAlias = Literal["always", "when nothing was done", "never"]
"""Which requests may be repeated: all, none, or only those that certainly changed nothing."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Pauses double from the first to the longest, each shortened at random by up to a half."""

    first_pause_ms: int = 100
    longest_pause_ms: int = 2_000
    total_ms: int = 30_000
    """Retry budget: no attempt of a call starts later than this after the call, whatever it waits for.

    0: everything is sent once.

    30 s are longer than a restart of any part of the exchange and shorter than an order's timestamp is valid.
    """


default_retry_policy = RetryPolicy()
no_retries = RetryPolicy(first_pause_ms=1, longest_pause_ms=1, total_ms=0)


class RetryBudget:
    """The retry budget of one call, by the monotonic clock of its event loop."""

    def __init__(self, policy: RetryPolicy, once_ms: float = 0) -> None:
        """`once_ms`: with a budget of 0, how long the only attempt may wait for its turn."""
        self._policy = policy
        self._once_ms = once_ms
        self._started_at = _now()
        self._pauses = 0

    @property
    def left_ms(self) -> float:
        """Time in which an attempt may still start."""
        total_ms = self._policy.total_ms or self._once_ms
        return max(0.0, total_ms - self._elapsed_ms())

    async def next(
        self,
        retry_after_seconds: float | None,
        *,
        ended: asyncio.Event | None = None,
        keeps_reserve: bool = False,
    ) -> bool:
        """Waits before the next attempt, at least as long as the exchange requests.

        False at once when that exceeds the budget, and after a pause that lasted longer than it.
        The pause ends early with `ended`.
        `keeps_reserve`: an eighth of the budget is left, for a question after the last attempt.
        """
        policy = self._policy
        most = min(policy.longest_pause_ms, policy.first_pause_ms * 2 ** min(self._pauses, 20))
        # Clients with the same retry time do not return at the same moment.
        least = -(-most // 2)
        pause_ms = (retry_after_seconds or 0) * 1000 + least + secrets.randbelow(most + 1 - least)
        reserve_ms = policy.total_ms / 8 if keeps_reserve else 0
        if self._elapsed_ms() + pause_ms > policy.total_ms - reserve_ms:
            return False
        self._pauses += 1
        await _pause(pause_ms / 1000, ended)
        return self.left_ms > 0

    def _elapsed_ms(self) -> float:
        return (_now() - self._started_at) * 1000


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _pause(seconds: float, ended: asyncio.Event | None) -> None:
    if ended is None:
        await asyncio.sleep(seconds)
        return
    try:
        async with asyncio.timeout(seconds):
            await ended.wait()
    except TimeoutError:
        return


async def persist(
    retry_budget: RetryBudget,
    may_repeat: Callable[[ExchangeError], bool],
    attempt: Callable[[int], Awaitable[T]],
) -> T:
    """Repeats attempts while their errors say that another may follow.

    Raises the last error when the retry budget ends.
    """
    tries = 1
    while True:
        try:
            return await attempt(tries)
        except ExchangeError as error:
            if not may_repeat(error):
                raise
            if not await retry_budget.next(error.retry_after_seconds):
                raise
        tries += 1


def is_repeatable(error: ExchangeError, repeatable: Repeatable) -> bool:
    if repeatable == "never":
        return False
    return repeatable == "always" or proves_nothing_done(error.code)
