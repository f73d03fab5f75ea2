"""Private reads of the caller, with the state at the time of the request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from .connection import Connection
from .http import HttpRequest
from .models import (
    BalanceAllowance,
    DeletedNotifications,
    FoundOrder,
    ListBalancesResponse,
    Notification,
    OpenOrder,
    OpenOrderPage,
    OrderFinding,
    RateLimitsResponse,
    StoredOrder,
    Trade,
    TradePage,
    WalletBalances,
)
from .order import BuiltOrder, OrderSubmission, UnsignedSubmission
from .paging import every_row

if TYPE_CHECKING:
    from .streams.messages import OwnEvent
    from .streams.streams import Streams


class OwnReads:
    def __init__(self, connection: Connection, streams: Streams) -> None:
        self._connection = connection
        self._streams = streams

    async def order(self, order_id: str) -> StoredOrder:
        """Raises `ExchangeError` 404 for an order that was never accepted; its `code` is the reason."""
        return await self._connection.read_own(StoredOrder, f"/data/order/{order_id}")

    async def orders_by_id(self, order_ids: Sequence[str]) -> list[FoundOrder]:
        """1 to 500 orders, one entry each in the order of the request."""
        body = [{"orderId": order_id} for order_id in order_ids]
        sent = HttpRequest("POST", "/data/orders", body=body)
        return await self._connection.signed(list[FoundOrder], sent)

    def open_orders(
        self,
        *,
        id: str | None = None,  # noqa: A002
        market: str | None = None,
        asset_id: str | None = None,
    ) -> AsyncIterator[OpenOrder]:
        """Open orders, newest placement first. `market` is a condition id, `asset_id` a token id.

        Each order that rests all the while comes once, whatever comes and goes meanwhile.
        """
        query = {"id": id, "market": market, "asset_id": asset_id}
        return every_row(
            lambda cursor: self._connection.read_own(
                OpenOrderPage, "/data/orders", {**query, "next_cursor": cursor}
            )
        )

    def trades(
        self,
        *,
        id: str | None = None,  # noqa: A002
        market: str | None = None,
        asset_id: str | None = None,
        maker_address: str | None = None,
        before: int | None = None,
        after: int | None = None,
    ) -> AsyncIterator[Trade]:
        """Trades, newest first; `before` and `after` are Unix seconds, exclusive.

        Each comes once; trades of meanwhile are not among them.
        """
        query = {
            "id": id,
            "market": market,
            "asset_id": asset_id,
            "maker_address": maker_address,
            "before": None if before is None else str(before),
            "after": None if after is None else str(after),
        }
        return every_row(
            lambda cursor: self._connection.read_own(
                TradePage, "/data/trades", {**query, "next_cursor": cursor}
            )
        )

    async def balances(self) -> list[WalletBalances]:
        answer = await self._connection.read_own(ListBalancesResponse, "/balances")
        return answer.wallets

    async def balance_allowance(
        self,
        asset_type: Literal["COLLATERAL", "CONDITIONAL"] = "COLLATERAL",
        *,
        token_id: str | None = None,
        signature_type: Literal[0, 1, 2, 3] = 0,
        wallet: str | None = None,
    ) -> BalanceAllowance:
        """USDC or a token in base units (10^-6), the money of open orders included."""
        query = {
            "asset_type": asset_type,
            "token_id": token_id,
            "signature_type": str(signature_type),
            "wallet": wallet,
        }
        return await self._connection.read_own(BalanceAllowance, "/balance-allowance", query)

    async def notifications(self) -> list[Notification]:
        return await self._connection.read_own(list[Notification], "/notifications")

    async def delete_notifications(self, ids: Sequence[int]) -> list[str]:
        query = {"ids": ",".join(str(one) for one in ids)}
        sent = HttpRequest("DELETE", "/notifications", query)
        return (await self._connection.signed(DeletedNotifications, sent)).deleted

    async def rate_limits(self) -> RateLimitsResponse:
        """Rate limits of the caller and what is left of them (limits.md)."""
        return await self._connection.read_own(RateLimitsResponse, "/rate-limits")

    async def validate(
        self, orders: Sequence[BuiltOrder | OrderSubmission | UnsignedSubmission]
    ) -> list[OrderFinding]:
        """Every check of placing, without placing; of orders that are signed or not (conventions.md 3.11)."""
        body = [one.submission if isinstance(one, BuiltOrder) else one for one in orders]
        sent = HttpRequest("POST", "/orders/validate", body=body)
        return await self._connection.signed(list[OrderFinding], sent)

    def events(
        self, *, after: Mapping[int, int] | None = None, allow_gaps: bool = False
    ) -> AsyncGenerator[OwnEvent, None]:
        """Orders, fills, balances and positions of the caller: each change exactly once.

        The same as `client.stream.own`.
        """
        return self._streams.own(after=after, allow_gaps=allow_gaps)
