"""The calls of a client that place orders."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from .retry import RetryBudget
from .unresolved import Unresolved

T = TypeVar("T")


class PlacementCall:
    """A call that places orders, from its beginning to its last result."""

    def __init__(self, retry_budget: RetryBudget, token_ids: Sequence[str]) -> None:
        self.retry_budget = retry_budget
        """Also of what it signs and reads."""
        self.token_ids = frozenset(token_ids)
        """Tokens of its orders."""
        self.order_ids: set[str] = set()
        """Orders that it has signed so far."""
        self.in_transit: dict[str, None] = {}
        """Orders that were sent and have no definite result: they may be on the log or come to it."""
        self.ended = asyncio.Event()
        """Set once nothing of the call may be sent any more."""


class OpenPlacements:
    """A later cancel is not overtaken by a placement that waits."""

    def __init__(self) -> None:
        self._calls: dict[PlacementCall, None] = {}
        self._unresolved = Unresolved[float]()
        """When an attempt of each was lost last, monotonic seconds."""

    async def run(
        self,
        retry_budget: RetryBudget,
        token_ids: Sequence[str],
        place: Callable[[PlacementCall], Awaitable[T]],
    ) -> T:
        """Runs a call that `end` can end."""
        call = PlacementCall(retry_budget, token_ids)
        self._calls[call] = None
        try:
            return await place(call)
        finally:
            del self._calls[call]

    def token_ids(self) -> set[str]:
        """Tokens of the orders of all calls."""
        return {token_id for call in self._calls for token_id in call.token_ids}

    def end(self, is_meant: Callable[[PlacementCall], bool]) -> Callable[[], list[str]]:
        """Orders of these calls that wait to be sent, first or again, are not sent.

        Returns what cannot be ended so: a look at the orders that were sent and still have no
        definite result.
        """
        ended = [call for call in self._calls if is_meant(call)]
        for call in ended:
            call.ended.set()
        return lambda: [order_id for call in ended for order_id in call.in_transit]

    def lost_at(self, order_id: str) -> float | None:
        """When an attempt was lost last of which an earlier call left open what became, monotonic seconds.

        None of any other order.
        """
        return self._unresolved.get(order_id)

    def note_unresolved(self, order_id: str, lost_at: float) -> None:
        self._unresolved.note(order_id, lost_at)

    def note_resolved(self, order_id: str) -> None:
        self._unresolved.note_resolved(order_id)
