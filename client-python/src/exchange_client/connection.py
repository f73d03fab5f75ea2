"""Sends signed and unsigned requests with retries, a few at a time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import httpx

from ._model import parse
from .gate import Gate
from .http import HttpRequest, KeyOfWallet, Query, Reader, l2_headers, request
from .retry import Repeatable, RetryBudget, RetryPolicy, default_retry_policy, persist

T = TypeVar("T")

default_concurrency = 32
default_timeout_ms = 15_000
"""Longer than any bounded wait of the exchange."""
_waiting_max = 1_000
"""Requests of one kind that may wait."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a request, the first or a later one."""

    method: str
    path: str
    tries: int
    """1 for the first."""


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    base_url: str
    """The root of the exchange, without a mount."""
    timeout_ms: int = default_timeout_ms
    """Of one attempt."""
    retry: RetryPolicy = default_retry_policy
    """`no_retries` sends everything once."""
    concurrency: int = default_concurrency
    """Requests at a time; cancels and heartbeats have as many of their own and wait for nothing else."""
    reader: Reader | None = None
    on_attempt: Callable[[Attempt], None] | None = None
    """Called before each attempt."""
    http: httpx.AsyncClient | None = None
    """A client of the caller's (proxies, certificates), who also closes it."""


class Connection:
    def __init__(self, options: ConnectionOptions) -> None:
        self._options = options
        self._base_url = options.base_url.rstrip("/")
        self._http = options.http if options.http is not None else _new_http(options)
        self._gate = Gate(concurrent=options.concurrency, waiting=_waiting_max)
        self._reserved_gate = Gate(concurrent=options.concurrency, waiting=_waiting_max)
        self._key: KeyOfWallet | None = None

    @property
    def base_url(self) -> str:
        return self._base_url

    @property
    def key(self) -> KeyOfWallet:
        if self._key is None:
            raise RuntimeError("call connect() first")
        return self._key

    def use_key(self, key: KeyOfWallet) -> None:
        self._key = key

    def retry_budget(self) -> RetryBudget:
        return RetryBudget(self._options.retry)

    async def aclose(self) -> None:
        if self._options.http is None:
            await self._http.aclose()

    async def send(
        self,
        kind: type[T],
        sent: HttpRequest,
        *,
        repeatable: Repeatable = "always",
        retry_budget: RetryBudget | None = None,
    ) -> T:
        """Sends a request until it has a definite response."""
        budget = retry_budget or self.retry_budget()
        body = await persist(budget, repeatable, lambda tries: self._attempt(sent, tries))
        return parse(kind, body)

    async def signed(
        self,
        kind: type[T],
        sent: HttpRequest,
        *,
        repeatable: Repeatable = "always",
        retry_budget: RetryBudget | None = None,
    ) -> T:
        """The same with the headers of the API key, signed again for each attempt."""
        budget = retry_budget or self.retry_budget()
        body = await persist(
            budget, repeatable, lambda tries: self._attempt(self.sign(sent), tries)
        )
        return parse(kind, body)

    async def signed_once(
        self, sent: HttpRequest, *, tries: int = 1, timeout_ms: int | None = None
    ) -> object:
        """One signed attempt; the response as JSON."""
        return await self._attempt(self.sign(sent), tries, timeout_ms)

    async def read(self, kind: type[T], path: str, query: Query | None = None) -> T:
        return await self.send(kind, HttpRequest("GET", path, query or {}))

    async def read_own(self, kind: type[T], path: str, query: Query | None = None) -> T:
        """A private read: with the API key, or with a read-only key where there is no other."""
        sent = HttpRequest("GET", path, query or {})
        reader = self._options.reader
        if self._key is not None or reader is None:
            return await self.signed(kind, sent)
        headers = {
            "SERVICE_ADDRESS": reader.address,
            "SERVICE_READONLY_API_KEY": reader.read_only_key,
        }
        return await self.send(kind, replace(sent, headers=headers))

    def sign(self, sent: HttpRequest) -> HttpRequest:
        proof = l2_headers(self.key, sent, time.time_ns() // 1_000_000)
        return replace(sent, headers={**sent.headers, **proof})

    async def _attempt(
        self, sent: HttpRequest, tries: int, timeout_ms: int | None = None
    ) -> object:
        gate = self._reserved_gate if _is_reserved(sent) else self._gate

        async def action() -> object:
            if self._options.on_attempt is not None:
                self._options.on_attempt(Attempt(sent.method, sent.path, tries))
            timeout = timeout_ms or self._options.timeout_ms
            return await request(self._http, self._base_url + sent.path, sent, timeout)

        return await gate.run(action)


def _new_http(options: ConnectionOptions) -> httpx.AsyncClient:
    # As many connections as both gates let pass: a cancel never waits for a connection either.
    most = 2 * options.concurrency
    limits = httpx.Limits(max_connections=most, max_keepalive_connections=most)
    return httpx.AsyncClient(limits=limits)


def _is_reserved(sent: HttpRequest) -> bool:
    """Cancels and heartbeats: trading and reading must not delay them."""
    is_cancel = sent.method == "DELETE" and bool(
        re.fullmatch(r"/(orders?|cancel-(all|market-orders))", sent.path)
    )
    return is_cancel or sent.path.endswith("/heartbeats")
