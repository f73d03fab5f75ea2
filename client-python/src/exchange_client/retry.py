"""The retry budget of requests, and the pauses between attempts."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from .errors import ExchangeError, is_passing, proves_nothing_done

T = TypeVar("T")

Repeatable: TypeAlias = Literal["always", "when nothing was done"]
"""Which requests may be repeated: all, or only those that certainly changed nothing."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Pauses double from the first to the longest, each shortened at random by up to a half."""

    first_pause_ms: int = 100
    longest_pause_ms: int = 2_000
    total_ms: int = 30_000
    """Retry budget: no attempt starts later than this after the first. 0: everything is sent once.

    30 s are longer than a restart of any part of the exchange and shorter than an order's timestamp is valid.
    """


default_retry_policy = RetryPolicy()
no_retries = RetryPolicy(first_pause_ms=1, longest_pause_ms=1, total_ms=0)


class RetryBudget:
    """The retry budget of one request."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._started_at = time.monotonic()
        self._pauses = 0

    async def next(self, retry_after_seconds: float | None) -> bool:
        """Waits before the next attempt, at least as long as the exchange requests.

        False at once when that exceeds the budget.
        """
        policy = self._policy
        most = min(policy.longest_pause_ms, policy.first_pause_ms * 2 ** min(self._pauses, 20))
        # Clients with the same retry time do not return at the same moment.
        least = -(-most // 2)
        pause_ms = (retry_after_seconds or 0) * 1000 + least + secrets.randbelow(most + 1 - least)
        if (time.monotonic() - self._started_at) * 1000 + pause_ms > policy.total_ms:
            return False
        self._pauses += 1
        await asyncio.sleep(pause_ms / 1000)
        return True


async def persist(
    retry_budget: RetryBudget, repeatable: Repeatable, attempt: Callable[[int], Awaitable[T]]
) -> T:
    """Repeats attempts while they fail for transient reasons.

    Raises the last error when the retry budget ends.
    """
    tries = 1
    while True:
        try:
            return await attempt(tries)
        except ExchangeError as error:
            if not is_passing(error) or not _may_repeat(error, repeatable):
                raise
            if not await retry_budget.next(error.retry_after_seconds):
                raise
        tries += 1


def _may_repeat(error: ExchangeError, repeatable: Repeatable) -> bool:
    return repeatable == "always" or proves_nothing_done(error.code)
