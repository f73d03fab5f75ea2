"""The cancels of a client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from ._model import UnexpectedAnswerError
from .connection import Connection, Sending
from .errors import ExchangeError, is_passing, leaves_open, proves_nothing_done
from .http import HttpRequest
from .models import BookSnapshot, CancelResult, FoundOrder
from .open_placements import PlacementCall
from .refusals import refusals
from .retry import RetryBudget, no_retries

cancels_per_request_max = 3_000

#: Orders that one request reads.
_read_per_request_max = 500

#: How long the market of a token is asked for before a cancel goes, its wait for a turn included.
_market_of_within_ms = 1_000

#: Reasons to send an id again: its cancel is unconfirmed, or was not sent.
_passing_codes = frozenset(("cancel_unconfirmed", "partition_not_ready", "overloaded"))

#: The reason of orders that an earlier try may have canceled.
_ended_codes = frozenset(("order_not_found",))

#: The end of an order that a cancel stopped on its way: it never trades.
_stopped_code = "fenced"


class CancelAllResult(CancelResult):
    """What a cancel of many orders canceled, and what it may not have."""

    in_transit: list[str] = Field(default_factory=list)
    """Orders that this client sent before and of which it had no definite result by then.

    Each was canceled by its id too, so one that reaches the exchange within 2 s is refused as
    `fenced`; after that it is booked. The call that placed each returns or raises what became of it.
    """
    complete: bool = True
    """False when a try may have canceled orders that its response does not name, as when it was lost.

    Also when the cancel by ids was not confirmed. Then `canceled` may lack orders that were canceled.
    None of them rests.
    """


@dataclass(slots=True)
class _Tried:
    """What the tries of a request have canceled, and what they say of the others."""

    canceled: dict[str, None] = field(default_factory=dict)
    not_canceled: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    is_open: bool = False
    """A try may have canceled more than it has named."""

    def add(self, result: CancelResult) -> None:
        """The newest reason of an order counts."""
        self.canceled |= dict.fromkeys(result.canceled)
        self.not_canceled |= result.not_canceled
        self.codes |= result.not_canceled_codes or {}

    def result(self) -> CancelResult:
        texts = {one: text for one, text in self.not_canceled.items() if one not in self.canceled}
        codes = {one: code for one, code in self.codes.items() if one not in self.canceled}
        return CancelResult(
            canceled=list(self.canceled), not_canceled=texts, not_canceled_codes=codes or None
        )

    def ids_with(self, codes: frozenset[str]) -> list[str]:
        of = self.codes.items()
        return [one for one, code in of if code in codes and one not in self.canceled]


class Cancels:
    """Each cancel ends the placements that wait before it is sent, so that none of them comes after it.

    Unconfirmed cancels are repeated within the retry budget, and the result has what each try has
    canceled.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._market_of: dict[str, str] = {}

    async def cancel_one(self, order_id: str) -> CancelResult:
        self._end_by_ids([order_id])
        tried = _Tried()
        sent = HttpRequest("DELETE", "/order", body={"orderID": order_id})
        retry_budget = self._connection.retry_budget("canceling")
        await self._send(sent, retry_budget, tried)
        await self._name_ends(retry_budget, tried)
        return tried.result()

    async def cancel_by_ids(self, order_ids: Sequence[str]) -> CancelResult:
        """Cancels up to 3,000 orders by id."""
        if not 1 <= len(order_ids) <= cancels_per_request_max:
            raise ValueError(f"1 to {cancels_per_request_max} orders go into a request")
        self._end_by_ids(order_ids)
        tried = _Tried()
        await self._cancel_ids(order_ids, self._connection.retry_budget("canceling"), tried)
        return tried.result()

    async def cancel_market(self, market: str | None, asset_id: str | None) -> CancelAllResult:
        retry_budget = self._connection.retry_budget("canceling")
        token_ids = await self._tokens_of(market, asset_id, retry_budget)
        facts = {"market": market, "asset_id": asset_id}
        body = {name: value for name, value in facts.items() if value is not None}
        sent = HttpRequest("DELETE", "/cancel-market-orders", body=body)
        return await self._cancel_many(
            lambda call: not token_ids.isdisjoint(call.token_ids), sent, retry_budget
        )

    async def cancel_all(self) -> CancelAllResult:
        sent = HttpRequest("DELETE", "/cancel-all")
        retry_budget = self._connection.retry_budget("canceling")
        return await self._cancel_many(lambda _call: True, sent, retry_budget)

    def _end_by_ids(self, order_ids: Sequence[str]) -> None:
        ids = [order_id.lower() for order_id in order_ids]
        self._connection.placements.end(lambda call: not call.order_ids.isdisjoint(ids))

    async def _cancel_many(
        self,
        is_meant: Callable[[PlacementCall], bool],
        sent: HttpRequest,
        retry_budget: RetryBudget,
    ) -> CancelAllResult:
        """Orders that are on their way when the others are canceled are canceled by id, which fences them."""
        in_transit = self._connection.placements.end(is_meant)
        tried = _Tried()
        await self._send(sent, retry_budget, tried)
        left = in_transit()
        if left:
            await self._cancel_too(left, retry_budget, tried)
        result = tried.result()
        return CancelAllResult(
            canceled=result.canceled,
            not_canceled=result.not_canceled,
            not_canceled_codes=result.not_canceled_codes,
            in_transit=[one for one in in_transit() if one not in tried.canceled],
            complete=not tried.is_open,
        )

    async def _cancel_too(
        self, order_ids: Sequence[str], retry_budget: RetryBudget, tried: _Tried
    ) -> None:
        """The others are canceled, so a failure is no error of the call: the result says what may come."""
        by_ids = _Tried()
        try:
            await self._cancel_ids(order_ids, retry_budget, by_ids)
        except (ExchangeError, UnexpectedAnswerError):
            by_ids.is_open = True
        tried.canceled |= by_ids.canceled
        tried.is_open |= by_ids.is_open

    async def _cancel_ids(
        self, order_ids: Sequence[str], retry_budget: RetryBudget, tried: _Tried
    ) -> None:
        sent = HttpRequest("DELETE", "/orders", body=list(order_ids))
        await self._send(sent, retry_budget, tried)
        while (left := tried.ids_with(_passing_codes)) and await retry_budget.next(None):
            tried.is_open = True
            if not await self._send_again(left, retry_budget, tried):
                break
        await self._name_ends(retry_budget, tried)
        tried.is_open |= bool(left)

    async def _send_again(
        self, order_ids: list[str], retry_budget: RetryBudget, tried: _Tried
    ) -> bool:
        """False after a failure that may pass, which has ended the budget.

        Each order has the reason of the try before then.
        """
        try:
            await self._send(HttpRequest("DELETE", "/orders", body=order_ids), retry_budget, tried)
        except ExchangeError as error:
            if not is_passing(error) and not proves_nothing_done(error.code):
                raise
            return False
        return True

    async def _name_ends(self, retry_budget: RetryBudget, tried: _Tried) -> None:
        """Names what an earlier try may have done to orders that had ended before the last one.

        Those that a cancel of their owner ended by the log are canceled; those that one stopped on
        their way are `fenced`, as in the response that was lost. Those that cannot be read within the
        retry budget stay as they are.
        """
        ended = tried.ids_with(_ended_codes) if tried.is_open else []
        once = Sending(repeatable="never", retry_budget=retry_budget, ends_with_budget=True)
        for start in range(0, len(ended), _read_per_request_max):
            ids = ended[start : start + _read_per_request_max]
            body = [{"orderId": order_id} for order_id in ids]
            sent = HttpRequest("POST", "/data/orders", body=body)
            try:
                found = await self._connection.signed(list[FoundOrder], sent, once)
            except (ExchangeError, UnexpectedAnswerError):
                continue
            tried.add(_ends_in(found))

    async def _send(self, sent: HttpRequest, retry_budget: RetryBudget, tried: _Tried) -> None:
        """What tries have canceled is in `tried`, and in the body of the error when the last one fails."""

        def on_failure(error: ExchangeError) -> None:
            tried.canceled |= dict.fromkeys(_canceled_in(error.body))
            tried.is_open |= leaves_open(error) or error.code in _passing_codes

        sending = Sending(retry_budget=retry_budget, on_failure=on_failure)
        try:
            result = await self._connection.signed(CancelResult, sent, sending)
        except ExchangeError as error:
            if not tried.canceled:
                raise
            body = error.body if isinstance(error.body, dict) else {}
            whole = {**body, "canceled": list(tried.canceled)}
            wait, headers = error.retry_after_seconds, error.headers
            raise ExchangeError(
                error.status, whole, retry_after_seconds=wait, headers=headers
            ) from error
        tried.add(result)

    async def _tokens_of(
        self, market: str | None, asset_id: str | None, budget_of_cancel: RetryBudget
    ) -> set[str]:
        """The tokens of calls that are of the market.

        Those whose market is not known in time count, so that none comes later.
        """
        if asset_id and asset_id.isdecimal():
            return {asset_id}
        condition = market or (asset_id or "").split(":")[0]
        tokens = list(self._connection.placements.token_ids())
        # The cancel itself has half of a small budget at least.
        once_ms = min(_market_of_within_ms, budget_of_cancel.left_ms / 2)
        retry_budget = RetryBudget(no_retries, once_ms)
        markets = await asyncio.gather(*(self._read_market(one, retry_budget) for one in tokens))
        known = zip(tokens, markets, strict=True)
        return {token for token, of in known if of is None or of == condition}

    async def _read_market(self, token_id: str, retry_budget: RetryBudget) -> str | None:
        known = self._market_of.get(token_id)
        if known is not None:
            return known
        once = Sending(repeatable="never", retry_budget=retry_budget, ends_with_budget=True)
        try:
            query = {"token_id": token_id}
            book = await self._connection.read(BookSnapshot, "/book", query, once)
        except Exception:
            return None
        self._market_of[token_id] = book.market
        return book.market


def _ends_in(found: Sequence[FoundOrder]) -> CancelResult:
    """What cancels of their owner did to orders, by the log."""
    canceled = [one.order_id for one in found if one.order and one.order.reason == "user"]
    codes = {one.order_id: one.order.code if one.order else one.code for one in found}
    stopped = [order_id for order_id, code in codes.items() if code == _stopped_code]
    return CancelResult(
        canceled=canceled,
        not_canceled=dict.fromkeys(stopped, refusals[_stopped_code].text),
        not_canceled_codes=dict.fromkeys(stopped, _stopped_code),
    )


def _canceled_in(body: object) -> list[str]:
    canceled = body.get("canceled") if isinstance(body, dict) else None
    return [one for one in canceled if isinstance(one, str)] if isinstance(canceled, list) else []
