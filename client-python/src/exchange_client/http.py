"""One attempt of a request: JSON in, JSON out."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, TypeAlias

import httpx

from .errors import ExchangeError
from .server_clock import ServerClock

Query: TypeAlias = Mapping[str, str | None]
Method: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: Method
    path: str
    """Without the query, which is not signed."""
    query: Query = field(default_factory=dict)
    body: object = None
    """Sent as JSON; None sends no body."""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeyOfWallet:
    """An API key and whose it is; the address may have any case."""

    api_key: str
    secret: str = field(repr=False)
    passphrase: str = field(repr=False)
    address: str


@dataclass(frozen=True, slots=True)
class Reader:
    """A read-only key: it opens the private reads of its wallet without `connect()`."""

    address: str
    read_only_key: str = field(repr=False)


async def request(
    http: httpx.AsyncClient,
    url: str,
    sent: HttpRequest,
    timeout_ms: float,
    clock: ServerClock | None = None,
    on_head: Callable[[int, Mapping[str, str]], None] | None = None,
) -> object:
    """One attempt. Raises `ExchangeError` on any response but 2xx, and without one.

    `on_head` is called with status and headers of a response.
    """
    sent_at = time.monotonic()
    try:
        # Timeouts of httpx limit single reads; this one limits the attempt.
        async with asyncio.timeout(timeout_ms / 1000):
            response = await http.request(
                sent.method,
                url,
                params={name: value for name, value in sent.query.items() if value is not None},
                content=None if sent.body is None else body_text(sent.body).encode(),
                headers={"content-type": "application/json", **sent.headers},
                timeout=None,
            )
    except (httpx.RequestError, TimeoutError) as cause:
        error = f"no answer to {sent.method} {sent.path}"
        raise ExchangeError(0, {"error": error, "code": "no_answer"}) from cause
    if clock is not None:
        clock.note(response.headers.get("date"), sent_at=sent_at, received_at=time.monotonic())
    if on_head is not None:
        on_head(response.status_code, response.headers)
    body = _parse_body(response.text)
    if response.is_success:
        return body
    wait = _retry_after(response.headers)
    raise ExchangeError(
        response.status_code, body, retry_after_seconds=wait, headers=response.headers
    )


def body_text(body: object) -> str:
    """The text that is both sent and signed."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _parse_body(text: str) -> object:
    """Numbers with a fraction are `Decimal`; a text that is no JSON stays a text."""
    try:
        value: object = json.loads(text, parse_float=Decimal)
    except ValueError:
        return text
    return value


def _retry_after(headers: httpx.Headers) -> float | None:
    text = headers.get("retry-after", "")
    return float(text) if text.isdecimal() and int(text) > 0 else None


def signed_headers(
    key: KeyOfWallet, *, method: str, path: str, body: str, now_ms: int
) -> dict[str, str]:
    """Headers that prove an API key (conventions.md 2.2): HMAC over timestamp, method, path, body."""
    timestamp = str(now_ms)
    secret = base64.urlsafe_b64decode(key.secret + "=" * (-len(key.secret) % 4))
    message = f"{timestamp}{method}{path}{body}".encode()
    digest = base64.urlsafe_b64encode(hmac.new(secret, message, hashlib.sha256).digest())
    return {
        "SERVICE_ADDRESS": key.address,
        "SERVICE_API_KEY": key.api_key,
        "SERVICE_PASSPHRASE": key.passphrase,
        "SERVICE_TIMESTAMP": timestamp,
        "SERVICE_SIGNATURE": digest.decode("ascii"),
    }


def l2_headers(key: KeyOfWallet, sent: HttpRequest, now_ms: int) -> dict[str, str]:
    """The same for a request of this client."""
    body = "" if sent.body is None else body_text(sent.body)
    return signed_headers(key, method=sent.method, path=sent.path, body=body, now_ms=now_ms)
