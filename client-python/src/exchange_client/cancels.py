"""Cancels of many orders by id."""

from __future__ import annotations

from collections.abc import Sequence

from .connection import Connection, Sending
from .http import HttpRequest
from .models import CancelResult
from .refusals import refusals

cancels_per_request_max = 3_000

#: Reasons in `not_canceled` that may change: the cancel is not confirmed yet.
_passing_texts = frozenset(
    refusals[code].text for code in ("cancel_unconfirmed", "partition_not_ready")
)


async def cancel_orders(connection: Connection, order_ids: Sequence[str]) -> CancelResult:
    """Cancels up to 3,000 orders by id; unconfirmed cancels are repeated within the retry budget.

    An order whose cancel was carried out while the response was lost is in `not_canceled` as
    already canceled or matched: it does not rest any more.
    """
    if not 1 <= len(order_ids) <= cancels_per_request_max:
        raise ValueError(f"1 to {cancels_per_request_max} orders go into a request")
    retry_budget = connection.retry_budget()
    canceled: list[str] = []
    not_canceled: dict[str, str] = {}
    left = list(order_ids)
    while True:
        request = HttpRequest("DELETE", "/orders", body=left)
        sending = Sending(retry_budget=retry_budget)
        result = await connection.signed(CancelResult, request, sending)
        canceled += result.canceled
        not_canceled |= result.not_canceled
        left = [one for one, text in result.not_canceled.items() if text in _passing_texts]
        if not left or not await retry_budget.next(None):
            break
    done = set(canceled)
    rest = {one: text for one, text in not_canceled.items() if one not in done}
    return CancelResult(canceled=canceled, not_canceled=rest)
