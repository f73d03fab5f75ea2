"""Agents of the caller's wallet (conventions.md 2.7)."""

from __future__ import annotations

from .connection import Connection, Sending
from .http import HttpRequest
from .models import AgentList, AgentView, AgentWithKey


class AgentsApi:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def list(self) -> list[AgentView]:
        answer = await self._connection.signed(AgentList, HttpRequest("GET", "/api/v1/agents"))
        return answer.data

    async def create(self, name: str) -> AgentWithKey:
        """Not repeated when its response is lost: there would be two agents."""
        sent = HttpRequest("POST", "/api/v1/agents", body={"name": name})
        return await self._connection.signed(
            AgentWithKey, sent, Sending(repeatable="when nothing was done")
        )

    async def pause(self, id: str) -> AgentView:  # noqa: A002
        sent = HttpRequest("POST", f"/api/v1/agents/{id}/pause")
        return await self._connection.signed(AgentView, sent)

    async def resume(self, id: str) -> AgentView:  # noqa: A002
        sent = HttpRequest("POST", f"/api/v1/agents/{id}/resume")
        return await self._connection.signed(AgentView, sent)

    async def rotate(self, id: str) -> AgentWithKey:  # noqa: A002
        """A new key; the old one ends. A repetition creates another one: that of the response counts."""
        sent = HttpRequest("POST", f"/api/v1/agents/{id}/rotate")
        return await self._connection.signed(AgentWithKey, sent)

    async def remove(self, id: str) -> None:  # noqa: A002
        await self._connection.signed(object, HttpRequest("DELETE", f"/api/v1/agents/{id}"))

    async def me(self, agent_key: str) -> AgentView:
        """The agent of a key. Raises `ExchangeError` 401 when the key is paused, rotated or deleted."""
        headers = {"authorization": f"Bearer {agent_key}"}
        return await self._connection.send(
            AgentView, HttpRequest("GET", "/api/v1/me", headers=headers)
        )
