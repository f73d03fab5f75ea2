"""The cancels of a client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from pydantic import Field

from .connection import Connection, Sending
from .errors import ExchangeError
from .http import HttpRequest
from .models import BookSnapshot, CancelResult
from .open_placements import PlacementCall
from .refusals import refusals
from .retry import RetryBudget

cancels_per_request_max = 3_000

#: How long the market of a token is asked for before a cancel goes.
_market_of_within_ms = 1_000

#: Reasons in `not_canceled` that may change: the cancel is not confirmed yet.
_passing_texts = frozenset(
    refusals[code].text for code in ("cancel_unconfirmed", "partition_not_ready")
)


class CancelAllResult(CancelResult):
    """What a cancel of many orders canceled, and what it may not have."""

    in_transit: list[str] = Field(default_factory=list)
    """Orders that this client sent before and of which it had no definite result by then.

    Each was canceled by its id too, so one that reaches the exchange within 2 s is refused as
    `fenced`; after that it is booked. The call that placed each returns or raises what became of it.
    """


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
        sent = HttpRequest("DELETE", "/order", body={"orderID": order_id})
        return await self._send(sent, self._connection.retry_budget())

    async def cancel_by_ids(self, order_ids: Sequence[str]) -> CancelResult:
        """Cancels up to 3,000 orders by id.

        An order whose cancel was carried out while the response was lost is in `not_canceled` as
        already canceled or matched: it does not rest any more.
        """
        if not 1 <= len(order_ids) <= cancels_per_request_max:
            raise ValueError(f"1 to {cancels_per_request_max} orders go into a request")
        self._end_by_ids(order_ids)
        return await self._cancel_ids(order_ids, self._connection.retry_budget())

    async def cancel_market(self, market: str | None, asset_id: str | None) -> CancelAllResult:
        retry_budget = self._connection.retry_budget()
        token_ids = await self._tokens_of(market, asset_id)
        facts = {"market": market, "asset_id": asset_id}
        body = {name: value for name, value in facts.items() if value is not None}
        sent = HttpRequest("DELETE", "/cancel-market-orders", body=body)
        return await self._cancel_many(
            lambda call: not token_ids.isdisjoint(call.token_ids), sent, retry_budget
        )

    async def cancel_all(self) -> CancelAllResult:
        sent = HttpRequest("DELETE", "/cancel-all")
        retry_budget = self._connection.retry_budget()
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
        result = await self._send(sent, retry_budget)
        canceled = dict.fromkeys(result.canceled)
        left = in_transit()
        if left:
            # The others are canceled: where this fails, the result says what may come.
            with suppress(ExchangeError):
                canceled |= dict.fromkeys((await self._cancel_ids(left, retry_budget)).canceled)
        return CancelAllResult(
            canceled=list(canceled),
            not_canceled=result.not_canceled,
            in_transit=[one for one in in_transit() if one not in canceled],
        )

    async def _cancel_ids(
        self, order_ids: Sequence[str], retry_budget: RetryBudget
    ) -> CancelResult:
        merged = CancelResult(canceled=[], not_canceled={})
        left = list(order_ids)
        while True:
            result = await self._send(HttpRequest("DELETE", "/orders", body=left), retry_budget)
            merged = _merge(merged, result.canceled, result.not_canceled)
            left = [one for one, text in result.not_canceled.items() if text in _passing_texts]
            if not left or not await retry_budget.next(None):
                return merged

    async def _send(self, sent: HttpRequest, retry_budget: RetryBudget) -> CancelResult:
        """What earlier tries have canceled is in the result, and in the body of the error when the last one fails."""
        before: dict[str, None] = {}

        def on_failure(error: ExchangeError) -> None:
            before.update(dict.fromkeys(_canceled_in(error.body)))

        sending = Sending(retry_budget=retry_budget, on_failure=on_failure)
        try:
            result = await self._connection.signed(CancelResult, sent, sending)
        except ExchangeError as error:
            if not before:
                raise
            body = error.body if isinstance(error.body, dict) else {}
            whole = {**body, "canceled": list(before)}
            wait = error.retry_after_seconds
            raise ExchangeError(error.status, whole, retry_after_seconds=wait) from error
        merged = CancelResult(canceled=list(before), not_canceled={})
        return _merge(merged, result.canceled, result.not_canceled)

    async def _tokens_of(self, market: str | None, asset_id: str | None) -> set[str]:
        """The tokens of calls that are of the market.

        Those whose market is not known in time count, so that none comes later.
        """
        if asset_id and asset_id.isdecimal():
            return {asset_id}
        condition = market or (asset_id or "").split(":")[0]
        tokens = list(self._connection.placements.token_ids())
        markets = await asyncio.gather(*(self._read_market(one) for one in tokens))
        known = zip(tokens, markets, strict=True)
        return {token for token, of in known if of is None or of == condition}

    async def _read_market(self, token_id: str) -> str | None:
        known = self._market_of.get(token_id)
        if known is not None:
            return known
        once = Sending(repeatable="never", timeout_ms=_market_of_within_ms)
        try:
            query = {"token_id": token_id}
            book = await self._connection.read(BookSnapshot, "/book", query, once)
        except Exception:
            return None
        self._market_of[token_id] = book.market
        return book.market


def _merge(
    before: CancelResult, canceled: Sequence[str], not_canceled: Mapping[str, str]
) -> CancelResult:
    done = dict.fromkeys([*before.canceled, *canceled])
    reasons = {**before.not_canceled, **not_canceled}
    left = {one: text for one, text in reasons.items() if one not in done}
    return CancelResult(canceled=list(done), not_canceled=left)


def _canceled_in(body: object) -> list[str]:
    canceled = body.get("canceled") if isinstance(body, dict) else None
    return [one for one in canceled if isinstance(one, str)] if isinstance(canceled, list) else []
