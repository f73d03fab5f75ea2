"""Actions of a wallet besides trading; each is carried out once per id (conventions.md 4.2)."""

from __future__ import annotations

import asyncio
import uuid
from typing import Literal

from ._model import UnexpectedAnswerError, parse
from .amounts import DecimalLike, decimal_text
from .connection import Connection, Sending
from .errors import ExchangeError, UnresolvedActionError, is_passing, leaves_open
from .http import HttpRequest
from .models import AccountActionResult
from .retry import persist
from .unresolved import Unresolved


class AccountApi:
    """`id` names a request: repetitions are carried out once. It is new per call unless given.

    `wallet` is a wallet of the caller, if it is not that of the API key. After an `ExchangeError` this
    client has changed nothing under the id. After an `UnresolvedActionError` it may have, and only
    the same action with the `action_id` of the error is safe.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._unresolved = Unresolved[bool]()
        """Actions whose fate a call could not learn, by kind, wallet and id."""

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
        key = f"{name} {(wallet or '').lower()} {action_id}"
        sent = HttpRequest("POST", f"/account/{name}", body=named)
        return await self._send_once(sent, action_id, key)

    async def _send_once(self, sent: HttpRequest, action_id: str, key: str) -> AccountActionResult:
        """Once an attempt is lost, only a result ends the action: a refusal is of a later attempt alone."""
        is_doubtful = self._unresolved.get(key) is True
        budget = self._connection.retry_budget()
        sending = Sending(retry_budget=budget)

        async def attempt(tries: int) -> AccountActionResult:
            nonlocal is_doubtful
            try:
                return _result_of(await self._connection.signed_once(sent, sending, tries=tries))
            except ExchangeError as error:
                is_doubtful = is_doubtful or leaves_open(error)
                raise

        try:
            result = await persist(budget, is_passing, attempt)
        except asyncio.CancelledError:
            # An attempt may be on its way.
            self._unresolved.note(key, True)
            raise
        except Exception as error:
            if not is_doubtful:
                raise
            self._unresolved.note(key, True)
            raise UnresolvedActionError(action_id) from error
        self._unresolved.note_resolved(key)
        return result


def _result_of(body: object) -> AccountActionResult:
    """A response that is none of an account action says nothing of it, as if there were no response."""
    try:
        return parse(AccountActionResult, body)
    except UnexpectedAnswerError as cause:
        raise ExchangeError(0, {"error": str(cause), "code": "no_answer"}) from cause
