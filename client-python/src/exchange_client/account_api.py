"""Actions of a wallet besides trading; each is carried out once per id (conventions.md 4.2)."""

from __future__ import annotations

import uuid
from typing import Literal

from ._model import UnexpectedAnswerError
from .amounts import DecimalLike, decimal_text
from .connection import Connection
from .errors import ExchangeError
from .http import HttpRequest
from .models import AccountActionResult


class AccountApi:
    """`id` names a request: repetitions are carried out once. It is new per call unless given.

    `wallet` is a wallet of the caller, if it is not that of the API key. An `ExchangeError` has the
    id as `action_id`: an action that is repeated with this `id` is not carried out twice.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def split(
        self,
        condition_id: str,
        amount: DecimalLike,
        *,
        id: str | None = None,  # noqa: A002
        wallet: str | None = None,
    ) -> AccountActionResult:
        """USDC into as many tokens of both outcomes. `amount` in shares, whole hundredths."""
        body = {"condition_id": condition_id, "amount": decimal_text(amount)}
        return await self._act("split", body, id, wallet)

    async def merge(
        self,
        condition_id: str,
        amount: DecimalLike,
        *,
        id: str | None = None,  # noqa: A002
        wallet: str | None = None,
    ) -> AccountActionResult:
        """Tokens of both outcomes into USDC. `amount` in shares, whole hundredths."""
        body = {"condition_id": condition_id, "amount": decimal_text(amount)}
        return await self._act("merge", body, id, wallet)

    async def redeem(
        self,
        condition_id: str,
        *,
        id: str | None = None,  # noqa: A002
        wallet: str | None = None,
    ) -> AccountActionResult:
        """All free tokens of a resolved market into their payout."""
        return await self._act("redeem", {"condition_id": condition_id}, id, wallet)

    async def withdraw(
        self,
        amount: DecimalLike,
        *,
        id: str | None = None,  # noqa: A002
        wallet: str | None = None,
    ) -> AccountActionResult:
        """`amount` in USDC."""
        return await self._act("withdrawals", {"amount": decimal_text(amount)}, id, wallet)

    async def _act(
        self,
        name: Literal["split", "merge", "redeem", "withdrawals"],
        body: dict[str, str],
        request_id: str | None,
        wallet: str | None,
    ) -> AccountActionResult:
        action_id = request_id or str(uuid.uuid4())
        named = {**body, "id": action_id}
        if wallet is not None:
            named["wallet"] = wallet
        sent = HttpRequest("POST", f"/account/{name}", body=named)
        try:
            return await self._connection.signed(AccountActionResult, sent)
        except ExchangeError as error:
            error.action_id = action_id
            raise
        except UnexpectedAnswerError as cause:
            # As if there were no response: nobody knows whether it was carried out.
            body = {"error": str(cause), "code": "no_answer"}
            raise ExchangeError(0, body, action_id=action_id) from cause
