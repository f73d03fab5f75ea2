"""Errors, and which of them pass by waiting (errors.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

from .refusals import refusals

if TYPE_CHECKING:
    from .order import BuiltOrder
    from .sent_order import Placement

#: Transient statuses of responses without a code of errors.md; 0 means no response.
_passing_statuses = frozenset((0, 425, 429, 500, 502, 503, 504))

overloaded_code = "client_overloaded"
"""The client's own refusal: too many of its requests wait to be sent, or this one for too long."""

canceled_code = "client_canceled"
"""The client's own refusal: a cancel or a missed session came before the order was sent."""

_skew_code = "timestamp_skew"

_own_codes = frozenset((overloaded_code, canceled_code))


class SigningDomainError(Exception):
    """What is to be signed belongs to other exchanges, or is not what this client signed for so far.

    Nothing was signed.
    """


class ExchangeError(Exception):
    """A response of the exchange that is no success, or a missing response."""

    def __init__(
        self,
        status: int,
        body: object,
        *,
        retry_after_seconds: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{status} {_message_of(body)}")
        self.status = status
        """HTTP status; 0 without a response (refused, reset, timed out)."""
        self.body = body
        """The response, or the reason why there is none."""
        self.code = code_of(body)
        """A code of errors.md; `no_answer` without a response, else empty.

        `client_overloaded` or `client_canceled` when it was not sent.
        """
        self.retry_after_seconds = retry_after_seconds
        """Seconds after which the same request may succeed; None when the response has none."""
        self.headers: Mapping[str, str] = {} if headers is None else headers
        """Headers of the response, by names in any case; empty without one."""
        known = refusals.get(self.code)
        self.retryable = known.retry if known is not None else status in _passing_statuses
        """Whether the very same request can succeed later (errors.md, column retry)."""


class UnresolvedOrdersError(Exception):
    """The fate of orders could not be learnt within the limit: they may be on the book or come to it.

    Each is safe to send again (`post_order` with the same order), and `own.order(id)` returns the
    state once the exchange responds. Do not sign others in their place before.
    """

    def __init__(self, orders: Sequence[BuiltOrder], results: Sequence[Placement | None]) -> None:
        super().__init__(f"no definite result for {', '.join(order.order_id for order in orders)}")
        self.orders = tuple(orders)
        self.results = tuple(results)
        """Results of the other orders of the request, in its order; None for each of `orders`."""


class UnresolvedActionError(Exception):
    """The fate of an account action could not be learnt within the limit.

    It may be carried out, or may be yet; `__cause__` is the last failure. The same action with
    `action_id` as its `id` is carried out once, however often it is sent; do not send it with another
    id before it has a result.
    """

    def __init__(self, action_id: str) -> None:
        super().__init__(f"no definite result for action {action_id}")
        self.action_id = action_id


def is_passing(error: BaseException) -> TypeGuard[ExchangeError]:
    """The same request may succeed later, so it is retried."""
    if not isinstance(error, ExchangeError):
        return False
    if error.code in refusals:
        return is_passing_code(error.code)
    return error.status in _passing_statuses and error.code not in _own_codes


def is_skew(error: ExchangeError) -> bool:
    """A refusal because the clock of the sender is off: it has the time of the exchange."""
    return error.code == _skew_code


def is_passing_code(code: str) -> bool:
    """Whether waiting helps after a refusal (errors.md, "Waiting")."""
    known = refusals.get(code)
    return known is not None and known.waiting is not None


def proves_nothing_done(code: str) -> bool:
    """Whether the request of a transient refusal has certainly changed nothing."""
    known = refusals.get(code)
    return code in _own_codes or (known is not None and known.waiting == "unchanged")


def leaves_open(error: ExchangeError) -> bool:
    """Whether the exchange has not said what became of a request: it may be carried out, or may be yet."""
    known = refusals.get(error.code)
    return error.code not in _own_codes and (known is None or known.waiting == "unknown")


def is_final_code(code: str) -> bool:
    """Whether the matcher remembers the refusal of an order: it has no other result, before or later."""
    known = refusals.get(code)
    return known is not None and known.final


def is_not_found_code(code: str) -> bool:
    """Whether a refusal says that something does not exist, so that it is none of an order by the log."""
    known = refusals.get(code)
    return known is not None and known.status == 404


def field_of(body: object, name: str) -> str | None:
    """A text of a response that may be of any form."""
    value = body.get(name) if isinstance(body, dict) else None
    return value if isinstance(value, str) else None


def code_of(body: object) -> str:
    return field_of(body, "code") or ""


def _message_of(body: object) -> str:
    error = field_of(body, "error")
    return error if error is not None else json.dumps(body, default=str)
