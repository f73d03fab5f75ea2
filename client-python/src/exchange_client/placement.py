"""Sends orders until each has a definite result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ._model import parse
from .connection import Connection
from .errors import (
    ExchangeError,
    UnresolvedOrdersError,
    field_of,
    is_passing,
    is_passing_code,
    overloaded_code,
    proves_nothing_done,
)
from .http import HttpRequest
from .models import PlacementResult, StoredOrder
from .order import BuiltOrder

orders_per_request_max = 15

#: Statuses by which a request with several orders is refused because every one of them is.
_common_statuses = frozenset((409, 425, 429, 503))

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


@dataclass(frozen=True, slots=True)
class PlacementOptions:
    time_to_book_ms: int | None = None
    """The order is refused as `too_late` when it reaches the book later than this after arrival.

    The exchange's own limit is 2 s.
    """
    await_delayed: bool = True
    """A `delayed` order is sent again until it is placed or the retry budget ends."""


SignAnew: TypeAlias = Callable[[int], Awaitable[BuiltOrder]]
"""Signs what the order of this place of the request means once more."""


@dataclass(slots=True, eq=False)
class _Sent:
    """An order in transit, and its results so far."""

    order: BuiltOrder
    result: Placement | None = None
    last: Placement | None = None
    """The last result that was not definite."""
    is_doubtful: bool = False
    """It may be on the log without a result."""


async def place_orders(
    connection: Connection,
    orders: Sequence[BuiltOrder],
    options: PlacementOptions,
    route: Literal["/order", "/orders"],
    sign_anew: SignAnew | None = None,
) -> list[Placement]:
    """The same signed order is one order however often it is sent.

    So an order without a response, or with a transient refusal, is sent again. When the retry
    budget ends, `GET /data/order/{id}` decides. Returns as many results in the same order; raises
    `UnresolvedOrdersError` when that does not decide either, and `ExchangeError` when the request
    as a whole is wrong. Signs nothing but, by `sign_anew`, orders that can never be booked because
    the exchange was too slow.
    """
    if not 1 <= len(orders) <= orders_per_request_max:
        raise ValueError(f"1 to {orders_per_request_max} orders go into a request")
    everything = [_Sent(order) for order in orders]
    retry_budget = connection.retry_budget()
    tries = 1
    while True:
        left = [sent for sent in everything if sent.result is None]
        wait_seconds = await _send_once(connection, left, options, route, tries)
        late = [sent for sent in left if _is_too_late(sent, options)] if sign_anew else []
        if not late and all(sent.result is not None for sent in left):
            break
        if not await retry_budget.next(wait_seconds):
            break
        if sign_anew is not None:
            await asyncio.gather(
                *(_replace(sent, sign_anew(everything.index(sent))) for sent in late)
            )
        tries += 1
    return await _settle_rest(connection, everything)


def _is_too_late(sent: _Sent, options: PlacementOptions) -> bool:
    """An order that is too late for its book can never be booked.

    Where the limit is the exchange's own, it was the exchange that was slow, as after an outage.
    """
    if sent.result is None or options.time_to_book_ms is not None:
        return False
    return sent.result.code == "too_late"


async def _replace(sent: _Sent, signing: Awaitable[BuiltOrder]) -> None:
    """Another order in place of one that can never be booked."""
    sent.order = await signing
    sent.result = sent.last = None
    sent.is_doubtful = False


async def _send_once(
    connection: Connection,
    left: Sequence[_Sent],
    options: PlacementOptions,
    route: Literal["/order", "/orders"],
    tries: int,
) -> float | None:
    """One request for orders without a result; returns the seconds that the exchange requests to wait."""
    submissions = [sent.order.submission for sent in left]
    body = submissions[0] if route == "/order" else submissions
    limit = options.time_to_book_ms
    headers = {} if limit is None else {"SERVICE_TIME_TO_BOOK_MS": str(limit)}
    request = HttpRequest("POST", route, body=body, headers=headers)
    try:
        answer = await connection.signed_once(request, tries=tries)
    except ExchangeError as error:
        return _note_failure(left, error)
    results = answer if isinstance(answer, list) else [answer]
    return _note(left, parse(list[Placement], results), options)


def _note(
    left: Sequence[_Sent], results: Sequence[Placement], options: PlacementOptions
) -> float | None:
    if len(results) != len(left):
        raise TypeError("as many results as orders are promised")
    wait_seconds: float | None = None
    for sent, result in zip(left, results, strict=True):
        if _is_definite(result, options.await_delayed):
            sent.result = result
        else:
            sent.last = result
            sent.is_doubtful |= result.success or not proves_nothing_done(result.code or "")
            wait_seconds = max(wait_seconds or 0, result.retry_after_seconds or 0)
    return wait_seconds


def _is_definite(result: Placement, await_delayed: bool) -> bool:
    if result.status == "delayed":
        return not await_delayed
    return result.success or not is_passing_code(result.code or "")


def _note_failure(left: Sequence[_Sent], error: ExchangeError) -> float | None:
    """A request that failed as a whole: each of its orders gets the same result."""
    refusal = _refusal_of(error)
    if error.code != overloaded_code and not is_passing(error):
        if refusal is None:
            raise error
        for sent in left:
            sent.result = refusal
        return None
    for sent in left:
        sent.last = refusal or sent.last
        sent.is_doubtful |= not proves_nothing_done(error.code)
    return error.retry_after_seconds


def _refusal_of(error: ExchangeError) -> Placement | None:
    """A refused order is a result, not an exception; None when the error is not about orders."""
    if isinstance(error.body, dict) and error.body.get("success") is False:
        return parse(Placement, error.body)
    if error.status not in _common_statuses or error.code == "":
        return None
    wait = error.retry_after_seconds
    return _refused(
        error.code, field_of(error.body, "error") or "", None if wait is None else int(wait)
    )


def _refused(code: str, text: str, wait_seconds: int | None = None) -> Placement:
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


async def _settle_rest(connection: Connection, everything: Sequence[_Sent]) -> list[Placement]:
    cause: Exception | None = None
    for sent in everything:
        if sent.result is not None:
            continue
        try:
            sent.result = await _read_truth(connection, sent)
        except ExchangeError as error:
            cause = error
    known = [sent.result for sent in everything if sent.result is not None]
    if len(known) == len(everything):
        return known
    unresolved = [sent.order for sent in everything if sent.result is None]
    raise UnresolvedOrdersError(unresolved, [sent.result for sent in everything]) from cause


async def _read_truth(connection: Connection, sent: _Sent) -> Placement | None:
    """The order by the log; None when the log does not have it and it may still be in transit."""
    # Every response proved that nothing was done: the log cannot have it.
    if not sent.is_doubtful and sent.last is not None:
        return sent.last
    try:
        order = await connection.read_own(StoredOrder, f"/data/order/{sent.order.order_id}")
    except ExchangeError as error:
        if error.status != 404:
            raise
        is_unknown = error.code in ("", "order_not_found")
        return None if is_unknown else _refused(error.code, str(error))
    return _placement_of(order)


def _placement_of(order: StoredOrder) -> Placement:
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
