"""Keys of the caller's wallet (conventions.md 2.6)."""

from __future__ import annotations

import builtins
from typing import Literal

from .connection import Connection, Sending
from .http import HttpRequest
from .models import ApiKeyFacts, BuilderKey, ClosedOnlyResponse, KeySettings, ReadOnlyKey

_once = Sending(repeatable="when nothing was done")


class KeysApi:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def list(self) -> list[ApiKeyFacts]:
        """Active and revoked ones."""
        sent = HttpRequest("GET", "/auth/api-keys", {"metadata": "true"})
        return await self._connection.signed(list[ApiKeyFacts], sent)

    async def revoke(self, api_key: str | None = None) -> None:
        """Revokes a key of the wallet; without one, that of this client."""
        named = None if api_key is None else {"apiKey": api_key}
        sent = HttpRequest("DELETE", "/auth/api-key", body=named)
        await self._connection.signed(object, sent)

    async def settings(self) -> KeySettings:
        """Self-trade prevention of the orders of this key."""
        return await self._connection.signed(
            KeySettings, HttpRequest("GET", "/auth/api-key/settings")
        )

    async def change_settings(
        self, self_trade: Literal["cancel_newest", "cancel_oldest", "cancel_both"]
    ) -> KeySettings:
        sent = HttpRequest("POST", "/auth/api-key/settings", body={"self_trade": self_trade})
        return await self._connection.signed(KeySettings, sent)

    async def create_read_only_key(self) -> str:
        """A key for private reads only. Not repeated when its response is lost: see `read_only_keys`."""
        sent = HttpRequest("POST", "/auth/readonly-api-key")
        answer = await self._connection.signed(ReadOnlyKey, sent, _once)
        return answer.api_key

    async def read_only_keys(self) -> builtins.list[str]:
        return await self._connection.signed(
            builtins.list[str], HttpRequest("GET", "/auth/readonly-api-keys")
        )

    async def revoke_read_only_key(self, key: str) -> None:
        sent = HttpRequest("DELETE", "/auth/readonly-api-key", body={"key": key})
        await self._connection.signed(object, sent)

    async def create_builder_key(self) -> BuilderKey:
        """A key that attributes orders; it grants no access. Not repeated when its response is lost."""
        sent = HttpRequest("POST", "/auth/builder-api-key")
        return await self._connection.signed(BuilderKey, sent, _once)

    async def revoke_builder_key(self, key: str) -> None:
        sent = HttpRequest("DELETE", "/auth/builder-api-key", body={"key": key})
        await self._connection.signed(object, sent)

    async def is_closed_only(self) -> bool:
        """Whether operators allow the wallet to close positions only."""
        sent = HttpRequest("GET", "/auth/ban-status/closed-only")
        answer = await self._connection.signed(ClosedOnlyResponse, sent)
        return answer.closed_only
