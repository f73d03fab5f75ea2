"""Errors, and which of them pass by waiting (errors.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

from .refusals import refusals

if TYPE_CHECKING:
    from .order import BuiltOrder
    from .placement import Placement

#: Transient statuses; 0 means no response.
_passing_statuses = frozenset((0, 425, 429, 500, 502, 503, 504))

overloaded_code = "client_overloaded"
"""The client's own refusal: too many of its requests wait to be sent."""

#: Codes of these statuses that waiting does not change: modes of an operator, the client's own overload.
_lasting_codes = frozenset(("post_only_mode", "cancel_only", "trading_disabled", overloaded_code))

#: Refusals of a transient status that prove that nothing was carried out.
_nothing_done_codes = frozenset(
    (
        "partition_not_ready",
        "ledger_not_ready",
        "overloaded",
        "old_generation",
        "rate_limited",
        "retries_unavailable",
        "too_many_retry_keys",
        "session_ending",
    )
)

#: Refusals that leave open what was done.
_open_codes = frozenset(("internal_error", "unknown", "order_unconfirmed"))


class SigningDomainError(Exception):
    """What is to be signed belongs to other exchanges, or is not what this client signed for so far.

    Nothing was signed.
    """


class ExchangeError(Exception):
    """A response of the exchange that is no success, or a missing response."""

    def __init__(
        self, status: int, body: object, *, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(f"{status} {_message_of(body)}")
        self.status = status
        """HTTP status; 0 without a response (refused, reset, timed out)."""
        self.body = body
        """The response, or the reason why there is none."""
        self.code = code_of(body)
        """A code of errors.md; `no_answer` without a response, `client_overloaded` when not sent, else empty."""
        self.retry_after_seconds = retry_after_seconds
        """Seconds after which the same request may succeed; None when the response has none."""
        known = refusals.get(self.code)
        self.retryable = known.retry if known is not None else status in _passing_statuses
        """Whether the very same request can succeed later (errors.md, column retry)."""


class UnresolvedOrdersError(Exception):
    """The fate of orders could not be learnt within the limit: they may be on the book or come to it.

    Each is safe to send again (`post_order` with the same order), and `own.order(id)` returns the
    state once the exchange responds.
    """

    def __init__(self, orders: Sequence[BuiltOrder], results: Sequence[Placement | None]) -> None:
        super().__init__(f"no definite result for {', '.join(order.order_id for order in orders)}")
        self.orders = tuple(orders)
        self.results = tuple(results)
        """Results of the other orders of the request, in its order; None for each of `orders`."""


def is_passing(error: BaseException) -> TypeGuard[ExchangeError]:
    """The same request may succeed later, so it is retried."""
    if not isinstance(error, ExchangeError):
        return False
    return error.status in _passing_statuses and error.code not in _lasting_codes


def proves_nothing_done(code: str) -> bool:
    """Whether a refusal of a transient status has certainly changed nothing."""
    return code in _nothing_done_codes or code == overloaded_code


def is_passing_code(code: str) -> bool:
    """Whether the code of an item of a batch is transient."""
    return code in _nothing_done_codes or code in _open_codes


def field_of(body: object, name: str) -> str | None:
    """A text of a response that may be of any form."""
    value = body.get(name) if isinstance(body, dict) else None
    return value if isinstance(value, str) else None


def code_of(body: object) -> str:
    return field_of(body, "code") or ""


def _message_of(body: object) -> str:
    error = field_of(body, "error")
    return error if error is not None else json.dumps(body, default=str)
