"""An order in transit, and what is known of it."""

from __future__ import annotations

import time
from typing import Literal

from ._model import parse
from .errors import (
    ExchangeError,
    field_of,
    is_final_code,
    is_passing,
    is_passing_code,
    proves_nothing_done,
)
from .models import PlacementResult, StoredOrder
from .order import BuiltOrder

#: Statuses by which a request with several orders is refused because every one of them is.
_common_statuses = frozenset((409, 425, 429, 503))

#: An attempt without an answer is booked within so long or never: its proof is good for 30 s, its book takes
#: it for 2 s (limits.md), and clocks differ by a little.
attempt_life_seconds = 35

_no_order: dict[str, object] = {
    "errorMsg": "",
    "orderID": "",
    "orderHash": "",
    "status": "",
    "makingAmount": "",
    "takingAmount": "",
}


class Placement(PlacementResult):
    """Result of an order."""

    order: StoredOrder | None = None
    """Set when the response was lost and the order was read instead: its present state.

    `making_amount` and `taking_amount`, the amounts filled at once, are then None.
    """


class SentOrder:
    """Once an attempt has left open what it did, the order is in doubt.

    Then only a success, a refusal that the matcher remembers, or the log ends it: whatever else
    refuses a later attempt may not know of the first one.
    """

    def __init__(self, order: BuiltOrder, *, lost_at: float | None) -> None:
        self.order = order
        self.result: Placement | None = None
        """Definite."""
        self.lost_at = lost_at
        """When an attempt last left open whether it brought the order to the log, monotonic seconds.

        None while none has.
        """
        self._last: Placement | None = None
        self._refused_in_doubt: Placement | None = None

    @property
    def is_doubtful(self) -> bool:
        """An attempt may have brought it to the log, or may still do so."""
        return self.lost_at is not None

    @property
    def must_ask_log(self) -> bool:
        return self.result is None and self._refused_in_doubt is not None

    def note(self, result: Placement, *, await_delayed: bool) -> None:
        """`await_delayed`: an order in its delay has no result yet."""
        self._refused_in_doubt = None
        code = result.code or ""
        if result.success:
            if result.status == "delayed" and await_delayed:
                self._keep(result, is_doubtful=True)
            else:
                self.result = result
        elif is_passing_code(code):
            self._keep(result, is_doubtful=not proves_nothing_done(code))
        elif self.is_doubtful:
            self._refused_in_doubt = result
        else:
            self.result = result

    def note_failure(self, error: ExchangeError) -> None:
        """The request failed as a whole."""
        refusal = refusal_of(error) or refused(error.code, str(error))
        is_unchanged = proves_nothing_done(error.code)
        if is_unchanged or is_passing(error):
            self._keep(refusal, is_doubtful=not is_unchanged)
        elif self.is_doubtful:
            self._refused_in_doubt = refusal
        else:
            self.result = refusal

    def note_lost(self) -> None:
        """The response cannot be read."""
        self.lost_at = time.monotonic()

    def note_log(self, found: Placement) -> None:
        """The log has the order, or the refusal of it.

        A refusal that the matcher does not remember is of one attempt only, and a lost one may
        still come.
        """
        is_past = self.lost_at is None or time.monotonic() - self.lost_at > attempt_life_seconds
        if found.success or is_final_code(found.code or "") or is_past:
            self.result = found
        else:
            self.note_unknown()

    def note_unknown(self) -> None:
        """The log has nothing of the order; it may still come to it."""
        refusal = self._refused_in_doubt
        if refusal is not None and is_final_code(refusal.code or ""):
            self.result = refusal

    def conclude(self) -> None:
        """Nothing more is sent or asked."""
        if self.result is not None:
            return
        if self.is_doubtful:
            self.note_unknown()
        else:
            self.result = self._last

    def _keep(self, result: Placement, *, is_doubtful: bool) -> None:
        self._last = result
        if is_doubtful:
            self.note_lost()


def refusal_of(error: ExchangeError) -> Placement | None:
    """A refused order is a result, not an exception; None when the error is not about orders."""
    if isinstance(error.body, dict) and error.body.get("success") is False:
        return parse(Placement, error.body)
    if error.status not in _common_statuses or error.code == "":
        return None
    wait = error.retry_after_seconds
    return refused(
        error.code, field_of(error.body, "error") or "", None if wait is None else int(wait)
    )


def refused(code: str, text: str, wait_seconds: int | None = None) -> Placement:
    return parse(
        Placement,
        {
            **_no_order,
            "success": False,
            "errorMsg": text,
            "code": code,
            "retry_after_seconds": wait_seconds,
        },
    )


def placement_of(order: StoredOrder) -> Placement:
    """The result of an order that was read from the log."""
    status: Literal["live", "matched", "delayed"]
    if order.status == "DELAYED":
        status = "delayed"
    elif order.status == "LIVE":
        status = "live"
    else:
        status = "matched" if order.size_matched > 0 or order.status == "MATCHED" else "live"
    placement = {
        **_no_order,
        "success": True,
        "orderID": order.id,
        "orderHash": order.id,
        "status": status,
        "tradeIDs": order.associate_trades,
        "order": order,
    }
    return parse(Placement, placement)
