"""Comments and the profile of the caller (conventions.md 7.1). Reads are in `client.public`."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Literal

from .connection import Connection
from .http import HttpRequest
from .models import CommentWritten


class CommentsApi:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def write(
        self,
        body: str,
        *,
        parent_entity_id: str | int,
        parent_entity_type: Literal["Event", "Series", "market"] = "Event",
        parent_comment_id: str | None = None,
        reply_address: str | None = None,
        client_id: str | None = None,
    ) -> CommentWritten:
        """Without a `client_id` of the caller's, a new one makes repeating safe."""
        comment = {
            "client_id": client_id or str(uuid.uuid4()),
            "body": body,
            "parent_entity_type": parent_entity_type,
            "parent_entity_id": parent_entity_id,
            "parent_comment_id": parent_comment_id,
            "reply_address": reply_address,
        }
        sent = HttpRequest("POST", "/comments", body=_present(comment))
        return await self._connection.signed(CommentWritten, sent)

    async def remove(self, id: str) -> CommentWritten:  # noqa: A002
        return await self._connection.signed(
            CommentWritten, HttpRequest("DELETE", f"/comments/{id}")
        )

    async def react(self, id: str) -> CommentWritten:  # noqa: A002
        sent = HttpRequest("POST", f"/comments/{id}/reactions", body={})
        return await self._connection.signed(CommentWritten, sent)

    async def unreact(self, id: str) -> CommentWritten:  # noqa: A002
        sent = HttpRequest("DELETE", f"/comments/{id}/reactions")
        return await self._connection.signed(CommentWritten, sent)

    async def report(self, id: str, reason: str | None = None) -> CommentWritten:  # noqa: A002
        sent = HttpRequest("POST", f"/comments/{id}/reports", body=_present({"reason": reason}))
        return await self._connection.signed(CommentWritten, sent)

    async def set_profile(
        self,
        *,
        name: str | None = None,
        bio: str | None = None,
        profile_image: str | None = None,
        x_username: str | None = None,
        display_username_public: bool | None = None,
    ) -> None:
        """Replaces the whole profile: omitted fields become empty."""
        profile = {
            "name": name,
            "bio": bio,
            "profileImage": profile_image,
            "xUsername": x_username,
            "displayUsernamePublic": display_username_public,
        }
        await self._connection.signed(
            object, HttpRequest("PUT", "/profile", body=_present(profile))
        )


def _present(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}
