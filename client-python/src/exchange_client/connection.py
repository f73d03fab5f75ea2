"""Sends signed and unsigned requests with retries, a few at a time."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, TypeVar

import httpx

from ._model import parse
from .callbacks import call_guarded
from .errors import ExchangeError, is_passing, is_skew
from .gate import Gate
from .http import HttpRequest, KeyOfWallet, Query, Reader, l2_headers, request
from .open_placements import OpenPlacements
from .retry import (
    Repeatable,
    RetryBudget,
    RetryPolicy,
    default_retry_policy,
    is_repeatable,
    persist,
)
from .server_clock import ServerClock

T = TypeVar("T")

default_concurrency = 32
default_timeout_ms = 15_000
"""Longer than any bounded wait of the exchange."""
_heartbeat_concurrency = 8
"""Heartbeats at a time; a loop sends one."""
_waiting_max = 1_000
"""Requests of one kind that may wait."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a request, the first or a later one."""

    method: str
    path: str
    tries: int
    """1 for the first."""
    body: object = field(default=None, repr=False)
    """Of the request: says which orders it is about, for example."""


@dataclass(frozen=True, slots=True)
class AttemptResponse:
    """The response to an attempt, whatever its status."""

    attempt: Attempt
    status: int
    headers: Mapping[str, str]
    """By names in any case: `Server-Timing`, `RateLimit-Remaining`, `X-Behind`, `X-Revocation-Pending` and others."""


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    base_url: str
    """The root of the exchange, without a mount."""
    timeout_ms: int = default_timeout_ms
    """Of one attempt."""
    retry: RetryPolicy = default_retry_policy
    """`no_retries` sends everything once."""
    concurrency: int = default_concurrency
    """Requests at a time.

    Cancels have as many of their own, and heartbeats some: they wait for no others.
    """
    reader: Reader | None = None
    on_attempt: Callable[[Attempt], None] | None = None
    """Called before each attempt."""
    http: httpx.AsyncClient | None = None
    """A client of the caller's (proxies, certificates), who also closes it."""
    retry_placing: RetryPolicy | None = None
    """Of calls that place orders, where a quote must not be sent for as long as a cancel; default `retry`."""
    retry_canceling: RetryPolicy | None = None
    """Of cancels; default `retry`."""
    on_response: Callable[[AttemptResponse], None] | None = None
    """Called with each response, before the call goes on.

    Its error goes to the exception handler of the event loop and ends no call.
    """


Budgeted: TypeAlias = Literal["placing", "canceling"]
"""Calls with a retry budget of their own."""


#: Trading and reading must not delay cancels, and nothing at all heartbeats.
Lane: TypeAlias = Literal["plain", "cancel", "beat"]


@dataclass(frozen=True, slots=True)
class Sending:
    """Options of sending a request."""

    retry_budget: RetryBudget | None = None
    repeatable: Repeatable = "always"
    timeout_ms: int | None = None
    """Timeout of one attempt, when it is not the default of the client."""
    ends_with_budget: bool = False
    """A response, too, is waited for no longer than the retry budget."""
    ended: asyncio.Event | None = None
    """Ends the wait for its turn; a request that was sent is not ended."""
    on_send: Callable[[], None] | None = None
    """Called when the request is about to leave."""
    on_failure: Callable[[ExchangeError], None] | None = None
    """Called with the failure of each attempt."""


_default_sending = Sending()


class Connection:
    def __init__(self, options: ConnectionOptions) -> None:
        self._options = options
        self._base_url = options.base_url.rstrip("/")
        self._http = options.http if options.http is not None else _new_http(options)
        most = options.concurrency
        self._gates: dict[Lane, Gate] = {
            "plain": Gate(concurrent=most, waiting=_waiting_max),
            "cancel": Gate(concurrent=most, waiting=_waiting_max),
            "beat": Gate(concurrent=_heartbeat_concurrency, waiting=_waiting_max),
        }
        self._key: KeyOfWallet | None = None
        self._clock_offset_ms = 0
        self._server_clock = ServerClock()
        self.placements = OpenPlacements()
        """Calls that place orders."""

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

    @property
    def timeout_ms(self) -> int:
        """Timeout of one attempt."""
        return self._options.timeout_ms

    def retry_budget(self, of: Budgeted | None = None) -> RetryBudget:
        """Of a call that begins here."""
        options = self._options
        own = {"placing": options.retry_placing, "canceling": options.retry_canceling}
        policy = None if of is None else own[of]
        return RetryBudget(policy or options.retry, self.timeout_ms)

    def now_ms(self) -> int:
        """Unix milliseconds by the clock of the exchange, once a response has shown that the one here is wrong."""
        return _wall_ms() + self._clock_offset_ms

    def correct_clock(self) -> None:
        """Corrects the clock here where the newest response shows that it is off."""
        self._set_clock(self._server_clock.nearest_ms(self.now_ms(), time.monotonic()))

    def latest_server_ms(self) -> int | None:
        """The latest time that it may be at the exchange, Unix milliseconds; None before its first response."""
        return self._server_clock.latest_ms(time.monotonic())

    async def aclose(self) -> None:
        if self._options.http is None:
            await self._http.aclose()

    async def send(
        self, kind: type[T], sent: HttpRequest, sending: Sending = _default_sending
    ) -> T:
        """Sends a request until it has a definite response."""
        return parse(kind, await self._persist(sent, lambda: sent, sending))

    async def send_once(
        self,
        kind: type[T],
        sent: HttpRequest,
        sending: Sending = _default_sending,
        *,
        tries: int = 1,
    ) -> T:
        """One attempt of the same."""
        return parse(kind, await self._attempt(sent, lambda: sent, sending, tries))

    async def signed(
        self, kind: type[T], sent: HttpRequest, sending: Sending = _default_sending
    ) -> T:
        """The same with the headers of the API key, signed again for each attempt."""
        return parse(kind, await self._persist(sent, lambda: self.sign(sent), sending))

    async def signed_once(
        self, sent: HttpRequest, sending: Sending = _default_sending, *, tries: int = 1
    ) -> object:
        """One signed attempt; the response as JSON."""
        return await self._attempt(sent, lambda: self.sign(sent), sending, tries)

    async def read(
        self,
        kind: type[T],
        path: str,
        query: Query | None = None,
        sending: Sending = _default_sending,
    ) -> T:
        return await self.send(kind, HttpRequest("GET", path, query or {}), sending)

    async def read_own(
        self,
        kind: type[T],
        path: str,
        query: Query | None = None,
        sending: Sending = _default_sending,
    ) -> T:
        """A private read: with the API key, or with a read-only key where there is no other."""
        sent = HttpRequest("GET", path, query or {})
        reader = self._options.reader
        if self._key is not None or reader is None:
            return await self.signed(kind, sent, sending)
        headers = {
            "SERVICE_ADDRESS": reader.address,
            "SERVICE_READONLY_API_KEY": reader.read_only_key,
        }
        return await self.send(kind, replace(sent, headers=headers), sending)

    def sign(self, sent: HttpRequest, now_ms: int | None = None) -> HttpRequest:
        """`now_ms`: the time of who judges the proof, where it is known better."""
        proof = l2_headers(self.key, sent, self.now_ms() if now_ms is None else now_ms)
        return replace(sent, headers={**sent.headers, **proof})

    async def _persist(
        self, sent: HttpRequest, make: Callable[[], HttpRequest], sending: Sending
    ) -> object:
        budget = sending.retry_budget or self.retry_budget()
        within = replace(sending, retry_budget=budget)

        def may_repeat(error: ExchangeError) -> bool:
            return is_passing(error) and is_repeatable(error, sending.repeatable)

        async def attempt(tries: int) -> object:
            try:
                return await self._attempt(sent, make, within, tries)
            except ExchangeError as error:
                if sending.on_failure is not None:
                    sending.on_failure(error)
                raise

        return await persist(budget, may_repeat, attempt)

    async def _attempt(
        self, sent: HttpRequest, make: Callable[[], HttpRequest], sending: Sending, tries: int
    ) -> object:
        timeout_ms = sending.timeout_ms or self.timeout_ms
        budget = sending.retry_budget
        left_ms = timeout_ms if budget is None else budget.left_ms

        def most_ms() -> float:
            if budget is None or not sending.ends_with_budget:
                return timeout_ms
            return min(timeout_ms, max(1, budget.left_ms))

        async def action() -> object:
            # Made when its turn has come: a proof carries the time.
            proven = make()
            attempt = Attempt(sent.method, sent.path, tries, sent.body)
            on_attempt = self._options.on_attempt
            if on_attempt is not None:
                call_guarded(lambda: on_attempt(attempt))
            if sending.on_send is not None:
                sending.on_send()
            return await self._request(proven, most_ms(), attempt)

        return await self._gates[_lane_of(sent)].run(action, left_ms=left_ms, ended=sending.ended)

    async def _request(self, sent: HttpRequest, timeout_ms: float, attempt: Attempt) -> object:
        on_response = self._options.on_response

        def on_head(status: int, headers: Mapping[str, str]) -> None:
            if on_response is not None:
                response = AttemptResponse(attempt, status, headers)
                call_guarded(lambda: on_response(response))

        try:
            url = self._base_url + sent.path
            return await request(self._http, url, sent, timeout_ms, self._server_clock, on_head)
        except ExchangeError as error:
            if is_skew(error) and isinstance(error.body, dict):
                server_ms = error.body.get("server_time")
                if isinstance(server_ms, int):
                    self._set_clock(server_ms)
            raise

    def _set_clock(self, server_ms: int) -> None:
        self._clock_offset_ms = server_ms - _wall_ms()


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _new_http(options: ConnectionOptions) -> httpx.AsyncClient:
    # As many connections as all gates let pass: a cancel never waits for a connection either.
    most = 2 * options.concurrency + _heartbeat_concurrency
    limits = httpx.Limits(max_connections=most, max_keepalive_connections=most)
    return httpx.AsyncClient(limits=limits)


def _lane_of(sent: HttpRequest) -> Lane:
    if sent.path.endswith("/heartbeats"):
        return "beat"
    is_cancel = sent.method == "DELETE" and bool(
        re.fullmatch(r"/(orders?|cancel-(all|market-orders))", sent.path)
    )
    return "cancel" if is_cancel else "plain"
