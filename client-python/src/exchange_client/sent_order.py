"""An order in transit, and what is known of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Literal

from ._model import Open, parse
from .errors import (
    ExchangeError,
    field_of,
    is_final_code,
    is_passing,
    is_passing_code,
    overloaded_code,
    proves_nothing_done,
)
from .models import PlacementResult, StoredOrder
from .order import BuiltOrder
from .refusals import refusals

#: Statuses by which a request with several orders is refused because every one of them is.
_common_statuses = frozenset((409, 425, 429, 503))

#: An attempt without an answer comes to the log within this time or never: its proof is good until 30 s after
#: its timestamp, which may be 30 s ahead, and its book takes it for 2 s (conventions.md 2.4, 3.8).
attempt_life_seconds = 65


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

    status: Annotated[Literal["live", "matched", "delayed", "canceled", ""], Open]  # type: ignore[assignment]
    """The first result of the order.

    `canceled` when it was sent before and has left the book since without a fill at once (`order`
    has its fills).
    """
    order: StoredOrder | None = None
    """Set when the order was read: its response was lost, or it was sent before and has ended since.

    Of a lost response `making_amount` and `taking_amount`, the amounts filled at once, are None.
    """


@dataclass(frozen=True, slots=True)
class _LaterRefusal:
    """A refusal of a later attempt while the order is in doubt."""

    placement: Placement
    is_of_order: bool
    """It is about the order, so what was there before it has been read."""


class SentOrder:
    """Once an attempt has left open what it did, the order is in doubt.

    Then only a success or the log ends it: whatever refuses a later attempt may not know of the
    first one.
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
        self._refused_in_doubt: _LaterRefusal | None = None
        """Since the last lost attempt; the log has to be asked then."""

    @property
    def is_doubtful(self) -> bool:
        """An attempt may have brought it to the log, or may still do so."""
        return self.lost_at is not None

    @property
    def must_read_end(self) -> bool:
        """It was sent before and has ended since: its first result does not say how."""
        result = self.result
        if result is None or not result.success or result.alive is not False:
            return False
        return result.order is None and result.status != "matched"

    def note_end(self, found: Placement) -> None:
        """How it has ended."""
        if self.result is None or found.order is None:
            return
        update = {"status": found.status, "order": found.order}
        self.result = self.result.model_copy(update=update) if found.success else found

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
            self._refused_in_doubt = _LaterRefusal(result, is_of_order=True)
        else:
            self.result = result

    def note_failure(self, error: ExchangeError) -> None:
        """The request failed as a whole."""
        of_order = refusal_of(error)
        refusal = of_order or refused(error.code, str(error))
        is_unchanged = proves_nothing_done(error.code)
        if is_unchanged or is_passing(error):
            self._keep(refusal, is_doubtful=not is_unchanged)
        elif self.is_doubtful:
            self._refused_in_doubt = _LaterRefusal(refusal, is_of_order=of_order is not None)
        else:
            self.result = refusal

    def note_lost(self) -> None:
        """The response cannot be read."""
        self.lost_at = time.monotonic()
        # It came before this attempt and says nothing of it.
        self._refused_in_doubt = None

    def note_log(self, found: Placement) -> None:
        """The log has the order, or the refusal of it.

        A refusal that the matcher does not remember is of one attempt only, and a lost one may
        still come.
        """
        has_ended = found.success or found.order is not None
        if has_ended or is_final_code(found.code or ""):
            self.result = found
        else:
            self.note_unknown()

    def note_unknown(self) -> None:
        """The log has no order, and no refusal for good.

        A lost attempt may still come to it, while it can, and meets a refusal for good as the later
        one did.
        """
        refusal = self._refused_in_doubt
        if refusal is None:
            return
        is_past = self.lost_at is None or time.monotonic() - self.lost_at > attempt_life_seconds
        is_final = is_final_code(refusal.placement.code or "")
        if is_final or (is_past and refusal.is_of_order):
            self.result = refusal.placement

    def conclude(self) -> None:
        """Nothing more is sent or asked. An order in doubt has no result without the log."""
        if self.result is None and not self.is_doubtful:
            self.result = self._last

    def _keep(self, result: Placement, *, is_doubtful: bool) -> None:
        # An attempt that was not sent for want of time does not replace an answer of the exchange.
        if self._last is None or result.code != overloaded_code:
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
    """The result of an order that was read from the log.

    One that was refused when its delay ended was never placed.
    """
    if order.code is not None:
        known = refusals.get(order.code)
        text = order.code if known is None else known.text
        return refused(order.code, text).model_copy(update={"order": order})
    placement = {
        **_no_order,
        "success": True,
        "orderID": order.id,
        "orderHash": order.id,
        "status": _status_of(order),
        "tradeIDs": order.associate_trades,
        "repeated": True,
        "alive": order.status in ("LIVE", "DELAYED"),
        "order": order,
    }
    return parse(Placement, placement)


#: Ends of orders that never rest: what was filled at once is the result.
_ends_at_once = ("remainder", "self_trade")


def _status_of(order: StoredOrder) -> Literal["live", "matched", "delayed", "canceled"]:
    if order.status == "DELAYED":
        return "delayed"
    if order.status == "LIVE":
        return "live"
    is_filled_at_once = order.reason in _ends_at_once and order.size_matched > 0
    return "matched" if order.status == "MATCHED" or is_filled_at_once else "canceled"
