"""Sends orders until each has a definite result."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ._model import UnexpectedAnswerError, parse
from .book_time import BookTime
from .connection import Connection, Sending
from .errors import (
    ExchangeError,
    UnresolvedOrdersError,
    is_not_found_code,
    is_passing,
    proves_nothing_done,
)
from .http import HttpRequest
from .models import StoredOrder
from .open_placements import PlacementCall
from .order import BuiltOrder
from .sent_order import Placement, SentOrder, placement_of, refusal_of, refused

orders_per_request_max = 15


@dataclass(frozen=True, slots=True)
class PlacementOptions:
    time_to_book_ms: int | None = None
    """The order is refused as `too_late` when it reaches the book later than this after its first attempt was sent.

    Later attempts have what is left of it. With it the exchange's own limit of 2 s, too, is that of all
    attempts, and a cancel of all orders by another process of the wallet covers the attempts after it.
    """
    await_delayed: bool = True
    """A `delayed` order is sent again until it is placed or the retry budget ends."""


SignAnew: TypeAlias = Callable[[int], Awaitable[BuiltOrder]]
"""Signs what the order of this place of the request means once more."""


async def place_orders(
    connection: Connection,
    orders: Sequence[BuiltOrder],
    options: PlacementOptions,
    route: Literal["/order", "/orders"],
    call: PlacementCall,
    sign_anew: SignAnew | None = None,
) -> list[Placement]:
    """The same signed order is one order however often it is sent.

    So an order without a response, or with a transient refusal, is sent again. A refusal of an
    order that may be on the log already decides nothing without `GET /data/order/{id}`, also when
    the retry budget ends. Returns as many results in the same order; raises `UnresolvedOrdersError`
    with the known results when that does not decide either, and `ExchangeError` when the request as
    a whole is wrong and nothing was sent before. Signs nothing but, by `sign_anew`, orders that can
    never be booked because the exchange was too slow.
    """
    if not 1 <= len(orders) <= orders_per_request_max:
        raise ValueError(f"1 to {orders_per_request_max} orders go into a request")
    return await _PlacementRun(connection, orders, options, route, call, sign_anew).run()


class _PlacementRun:
    """The attempts of one call."""

    def __init__(
        self,
        connection: Connection,
        orders: Sequence[BuiltOrder],
        options: PlacementOptions,
        route: Literal["/order", "/orders"],
        call: PlacementCall,
        sign_anew: SignAnew | None,
    ) -> None:
        self._connection = connection
        self._options = options
        self._route = route
        self._call = call
        # Where the limit is the exchange's own, it was the exchange that was slow.
        self._sign_anew = sign_anew if options.time_to_book_ms is None else None
        limit_ms = options.time_to_book_ms
        self._book_time = None if limit_ms is None else BookTime(connection, limit_ms)
        lost_at = connection.placements.lost_at
        self._all = [SentOrder(one, lost_at=lost_at(one.order_id)) for one in orders]
        call.order_ids.update(one.order_id for one in orders)
        self._cause: Exception | None = None
        self._is_over = False
        """Another attempt would fail like the last one."""

    async def run(self) -> list[Placement]:
        try:
            await self._send_all()
            await self._ask_until_known()
            await self._read_ends()
        except asyncio.CancelledError:
            self._note_unresolved()
            raise
        return self._conclude()

    def _note_unresolved(self) -> None:
        for sent in self._open():
            if sent.lost_at is not None:
                placements = self._connection.placements
                placements.note_unresolved(sent.order.order_id, sent.lost_at)

    async def _send_all(self) -> None:
        """Sends orders until each has a result, or nothing may be sent any more."""
        call = self._call
        tries = 1
        while True:
            wait_seconds = await self._send(tries)
            if self._is_over or call.ended.is_set():
                return
            await self._ask_log([sent for sent in self._open() if sent.must_ask_log])
            if not self._open() and not self._late():
                return
            keeps_reserve = bool(self._doubtful())
            if not await call.retry_budget.next(
                wait_seconds, ended=call.ended, keeps_reserve=keeps_reserve
            ):
                return
            if call.ended.is_set():
                return
            await self._sign_late_anew()
            tries += 1

    async def _ask_until_known(self) -> None:
        """Where nothing may be sent any more, the log alone decides."""
        while True:
            await self._ask_log(self._doubtful())
            if not self._doubtful() or self._is_over:
                return
            if not await self._call.retry_budget.next(None):
                return

    async def _read_ends(self) -> None:
        """Where an end cannot be read, `alive` says that there is one."""
        ended = [sent for sent in self._all if sent.must_read_end]
        await asyncio.gather(*(self._read_end(sent) for sent in ended))

    async def _read_end(self, sent: SentOrder) -> None:
        try:
            found = await self._read_log(sent.order.order_id)
        except Exception:
            return
        if found is not None:
            sent.note_end(found)

    def _open(self) -> list[SentOrder]:
        return [sent for sent in self._all if sent.result is None]

    def _doubtful(self) -> list[SentOrder]:
        return [sent for sent in self._open() if sent.is_doubtful]

    def _late(self) -> list[SentOrder]:
        """Orders that are too late for their book can never be booked."""
        if self._sign_anew is None:
            return []
        return [one for one in self._all if one.result and one.result.code == "too_late"]

    async def _send(self, tries: int) -> float | None:
        """One request for orders without a result; returns the seconds that the exchange requests to wait."""
        left = self._open()
        call = self._call
        ids = dict.fromkeys(sent.order.order_id for sent in left)
        sending = Sending(
            retry_budget=call.retry_budget,
            timeout_ms=self._timeout_ms(),
            ended=call.ended,
            on_send=lambda: call.in_transit.update(ids),
        )
        try:
            body = await self._connection.signed_once(self._request(left), sending, tries=tries)
            return self._note(left, body if isinstance(body, list) else [body])
        except asyncio.CancelledError:
            for sent in left:
                if sent.order.order_id in call.in_transit:
                    sent.note_lost()
            raise
        except Exception as error:
            return self._note_failure(left, error)
        finally:
            for sent in left:
                if sent.result is not None or not sent.is_doubtful:
                    call.in_transit.pop(sent.order.order_id, None)

    def _request(self, left: Sequence[SentOrder]) -> HttpRequest:
        submissions = [sent.order.submission for sent in left]
        body = submissions[0] if self._route == "/order" else submissions
        headers = {} if self._book_time is None else self._book_time.headers()
        return HttpRequest("POST", self._route, body=body, headers=headers)

    def _timeout_ms(self) -> int:
        """The repetition of an order in doubt leaves half of the time that is left, for the log."""
        timeout_ms = self._connection.timeout_ms
        if not self._doubtful():
            return timeout_ms
        return min(timeout_ms, max(1, math.ceil(self._call.retry_budget.left_ms / 2)))

    def _note(self, left: Sequence[SentOrder], results: Sequence[object]) -> float | None:
        wait_seconds: float | None = None
        for index, sent in enumerate(left):
            try:
                if len(results) != len(left):
                    raise TypeError("as many results as orders are promised")
                result = parse(Placement, results[index])
            except (TypeError, UnexpectedAnswerError) as error:
                self._cause = error
                sent.note_lost()
                continue
            sent.note(result, await_delayed=self._options.await_delayed)
            if sent.result is None:
                wait_seconds = max(wait_seconds or 0, result.retry_after_seconds or 0)
        return wait_seconds

    def _note_failure(self, left: Sequence[SentOrder], error: Exception) -> float | None:
        """A request that failed as a whole: each of its orders gets the same result."""
        self._cause = error
        if not isinstance(error, ExchangeError) or not _is_of_orders(error):
            if all(sent.result is None and not sent.is_doubtful for sent in self._all):
                raise error
            self._is_over = True
        if not isinstance(error, ExchangeError):
            return None
        for sent in left:
            sent.note_failure(error)
        return error.retry_after_seconds

    async def _sign_late_anew(self) -> None:
        for sent in self._late():
            if self._sign_anew is None:
                return
            index = self._all.index(sent)
            try:
                order = await self._sign_anew(index)
            except Exception as error:
                # It stays too late, and the results of the others are not lost.
                self._cause = error
                self._sign_anew = None
            else:
                self._call.order_ids.add(order.order_id)
                self._all[index] = SentOrder(order, lost_at=None)

    async def _ask_log(self, asked: Sequence[SentOrder]) -> None:
        await asyncio.gather(*(self._ask_for(sent) for sent in asked))

    async def _ask_for(self, sent: SentOrder) -> None:
        try:
            found = await self._read_log(sent.order.order_id)
        except Exception as error:
            self._cause = error
            return
        if found is None:
            sent.note_unknown()
        else:
            sent.note_log(found)

    async def _read_log(self, order_id: str) -> Placement | None:
        """The order by the log; None when the log does not have it."""
        once = Sending(retry_budget=self._call.retry_budget, repeatable="never")
        path = f"/data/order/{order_id}"
        try:
            return placement_of(await self._connection.read_own(StoredOrder, path, sending=once))
        except ExchangeError as error:
            if error.status != 404:
                raise
            if error.code in ("", "order_not_found"):
                return None
            # Another 404 is not about the order.
            if is_not_found_code(error.code):
                raise
            return refused(error.code, str(error))

    def _conclude(self) -> list[Placement]:
        placements = self._connection.placements
        for sent in self._all:
            sent.conclude()
            if sent.result is not None:
                placements.note_resolved(sent.order.order_id)
        self._note_unresolved()
        known = [sent.result for sent in self._all if sent.result is not None]
        if len(known) == len(self._all):
            return known
        unresolved = [sent.order for sent in self._open()]
        raise UnresolvedOrdersError(
            unresolved, [sent.result for sent in self._all]
        ) from self._cause


def _is_of_orders(error: ExchangeError) -> bool:
    """Other failures are of the request: a key that is no key, for example."""
    return proves_nothing_done(error.code) or refusal_of(error) is not None or is_passing(error)
