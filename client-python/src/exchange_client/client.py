"""The client of the exchange."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import TracebackType
from typing import Literal, Self

import httpx

from .account_api import AccountApi
from .agents_api import AgentsApi
from .cancels import CancelAllResult, Cancels
from .comments_api import CommentsApi
from .connection import (
    Attempt,
    AttemptResponse,
    Connection,
    ConnectionOptions,
    Sending,
    default_concurrency,
    default_timeout_ms,
)
from .eip712 import Side, SigningDomain, l1_digest
from .errors import ExchangeError, is_passing
from .heartbeat import Heartbeat, default_interval_ms
from .http import HttpRequest, KeyOfWallet, Query, Reader, body_text
from .keys_api import KeysApi
from .models import ApiKeyTrio, BookSnapshot, CancelResult, NegRiskResponse
from .open_placements import PlacementCall
from .order import BuiltOrder, OrderIntent, SigningContext, build_order
from .own_reads import OwnReads
from .pinned_domain import PinnedDomain
from .placement import PlacementOptions, place_orders
from .public_reads import PublicReads
from .retry import RetryBudget, RetryPolicy, default_retry_policy, persist
from .sent_order import Placement
from .streams.streams import Streams
from .wallet import Signer

_used_code = "request_repeated"
"""A used proof is one of the same millisecond by another client of the wallet, or a request that a proxy repeated."""


def _may_prove_again(error: ExchangeError) -> bool:
    return is_passing(error) or error.code == _used_code


def _proof_headers(
    signer: Signer, nonce: int, domain: SigningDomain, now_ms: int
) -> dict[str, str]:
    timestamp = str(now_ms)
    digest = l1_digest(address=signer.address, timestamp=timestamp, nonce=nonce, domain=domain)
    return {
        "SERVICE_ADDRESS": signer.checksummed,
        "SERVICE_SIGNATURE": signer.sign(digest),
        "SERVICE_TIMESTAMP": timestamp,
        "SERVICE_NONCE": str(nonce),
    }


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request for tools that send it themselves."""

    url: str
    method: str
    headers: dict[str, str] = field(repr=False)
    body: str
    """The very text that was signed; empty when there is no body."""


class ExchangeClient:
    """A client of the exchange, for one event loop.

    Reads need nothing; writes need a signer and, once, `connect()`. A request without a response,
    or with a transient one, is retried within the retry budget (`retry`): the same signed order is
    one order with one result, and cancels and account actions are idempotent. Refusals of orders
    are results; other failures are `ExchangeError`s.
    """

    def __init__(
        self,
        base_url: str,
        *,
        signer: Signer | None = None,
        domain: SigningDomain | None = None,
        reader: Reader | None = None,
        timeout_ms: int = default_timeout_ms,
        retry: RetryPolicy = default_retry_policy,
        retry_placing: RetryPolicy | None = None,
        retry_canceling: RetryPolicy | None = None,
        concurrency: int = default_concurrency,
        on_attempt: Callable[[Attempt], None] | None = None,
        on_response: Callable[[AttemptResponse], None] | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """See `ConnectionOptions` for the options that are not about signing.

        `domain`: what orders and the wallet's proof are signed for. Give the one you noted at your
        first visit: then nothing is fetched, and nothing is ever signed for another one. By default
        the first that is fetched (`signing_domain()`). Raises `SigningDomainError` for a domain that
        belongs to other exchanges.
        """
        options = ConnectionOptions(
            base_url,
            timeout_ms,
            retry,
            concurrency,
            reader,
            on_attempt,
            http,
            retry_placing,
            retry_canceling,
            on_response,
        )
        self._signer = signer
        self._connection = Connection(options)
        self._cancels = Cancels(self._connection)
        self._neg_risk_of: dict[str, bool] = {}
        self.stream = Streams(self._connection)
        """Subscriptions as async iterators."""
        self.keys = KeysApi(self._connection)
        self.account = AccountApi(self._connection)
        self.agents = AgentsApi(self._connection)
        self.comments = CommentsApi(self._connection)
        self.own = OwnReads(self._connection, self.stream)
        """Own orders, trades, balances and notifications."""
        self.public = PublicReads(self._connection)
        """Books, prices, history, catalog, reports, comments."""
        self._domain = PinnedDomain(self._connection, domain)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends all streams and closes all connections."""
        await self.stream.aclose()
        await self._connection.aclose()

    async def connect(self, nonce: int = 0) -> ApiKeyTrio:
        """Proves the wallet and obtains its API key: the same wallet and nonce always get the same one.

        Each process that places orders takes a nonce of its own, as the exchange cancels on the silence
        of a key. Corrects the clock that this client signs with by that of the exchange.
        """
        signer = self._wallet()
        retry_budget = self._connection.retry_budget()
        trio = await self._obtain_key(signer, nonce, retry_budget)
        # What was within the tolerance of this proof may not be within that of the next one.
        self._connection.correct_clock()
        self.use_key(KeyOfWallet(trio.api_key, trio.secret, trio.passphrase, signer.checksummed))
        return trio

    async def _obtain_key(
        self, signer: Signer, nonce: int, retry_budget: RetryBudget
    ) -> ApiKeyTrio:
        """A proof is good once, and an attempt without a key may have used it up: each signs its own."""
        domain = await self._domain.get(retry_budget)
        sending = Sending(retry_budget=retry_budget)

        async def attempt(tries: int) -> ApiKeyTrio:
            headers = _proof_headers(signer, nonce, domain, self._connection.now_ms())
            sent = HttpRequest("POST", "/auth/api-key", headers=headers)
            return await self._connection.send_once(ApiKeyTrio, sent, sending, tries=tries)

        return await persist(retry_budget, _may_prove_again, attempt)

    async def signing_domain(self) -> SigningDomain:
        """The domain that this client signs for, the same for its whole life.

        The given one, or the first that the exchange returned. Raises `SigningDomainError` for one
        that belongs to other exchanges.
        """
        return await self._domain.get(self._connection.retry_budget())

    async def verify_signing_domain(self) -> None:
        """Raises `SigningDomainError` unless the exchange publishes the domain of this client."""
        await self._domain.verify(self._connection.retry_budget())

    def use_key(self, key: KeyOfWallet) -> None:
        """A key that was obtained before, instead of `connect()`."""
        self._connection.use_key(key)

    async def prepare_order(self, intent: OrderIntent) -> BuiltOrder:
        """Signs an order without sending it; its id is known before it is sent."""
        return await self._prepare(intent, self._connection.retry_budget())

    async def _prepare(self, intent: OrderIntent, retry_budget: RetryBudget) -> BuiltOrder:
        neg_risk = await self._neg_risk(intent.token_id, retry_budget)
        context = SigningContext(
            signer=self._wallet(),
            domain=await self._domain.get(retry_budget),
            neg_risk=neg_risk,
            owner=self._connection.key.api_key,
            now_ms=self._connection.now_ms(),
        )
        return build_order(intent, context)

    async def post_order(
        self, order: BuiltOrder, *, time_to_book_ms: int | None = None, await_delayed: bool = True
    ) -> Placement:
        """Sends one signed order until its result is known.

        A refusal is a result with `success` false. Raises `UnresolvedOrdersError` when the retry
        budget ends before: the same order may be sent again.
        """
        options = PlacementOptions(time_to_book_ms, await_delayed)
        [placement] = await self._post([order], options, "/order")
        return placement

    async def post_orders(
        self,
        orders: Sequence[BuiltOrder],
        *,
        time_to_book_ms: int | None = None,
        await_delayed: bool = True,
    ) -> list[Placement]:
        """Sends 1 to 15 signed orders; as many results in the same order.

        Orders without a definite result are sent again alone.
        """
        options = PlacementOptions(time_to_book_ms, await_delayed)
        return await self._post(orders, options, "/orders")

    async def _post(
        self,
        orders: Sequence[BuiltOrder],
        options: PlacementOptions,
        route: Literal["/order", "/orders"],
    ) -> list[Placement]:
        connection = self._connection
        token_ids = [order.submission["order"]["tokenId"] for order in orders]
        return await connection.placements.run(
            connection.retry_budget("placing"),
            token_ids,
            lambda call: place_orders(connection, orders, options, route, call),
        )

    async def place_order(
        self, intent: OrderIntent, *, time_to_book_ms: int | None = None, await_delayed: bool = True
    ) -> Placement:
        """Signs and sends.

        An order that reached its book too late, which no client can help and which can never be
        booked, is signed again within the retry budget; with `time_to_book_ms` it is a refusal as
        any other.
        """
        options = PlacementOptions(time_to_book_ms, await_delayed)
        [placement] = await self._place_intents([intent], options, "/order")
        return placement

    async def place_orders(
        self,
        intents: Sequence[OrderIntent],
        *,
        time_to_book_ms: int | None = None,
        await_delayed: bool = True,
    ) -> list[Placement]:
        """Signs 1 to 15 orders, those that were too late again, and sends them in one request."""
        options = PlacementOptions(time_to_book_ms, await_delayed)
        return await self._place_intents(intents, options, "/orders")

    async def _place_intents(
        self,
        intents: Sequence[OrderIntent],
        options: PlacementOptions,
        route: Literal["/order", "/orders"],
    ) -> list[Placement]:
        connection = self._connection

        async def place(call: PlacementCall) -> list[Placement]:
            budget = call.retry_budget
            orders = await asyncio.gather(*(self._prepare(intent, budget) for intent in intents))

            async def sign_anew(index: int) -> BuiltOrder:
                return await self._prepare(intents[index], budget)

            return await place_orders(connection, orders, options, route, call, sign_anew)

        # The call begins before it signs: a cancel of all orders that comes meanwhile ends it too.
        token_ids = [intent.token_id for intent in intents]
        retry_budget = connection.retry_budget("placing")
        return await connection.placements.run(retry_budget, token_ids, place)

    async def cancel_order(self, order_id: str) -> CancelResult:
        """Cancels an order.

        Calls of this client that wait to send it, first or again, end with all their orders: with the
        last refusal, or `client_canceled` before the first try. On its way it is refused as `fenced`.
        """
        return await self._cancels.cancel_one(order_id)

    async def cancel_orders(self, order_ids: Sequence[str]) -> CancelResult:
        """The same for 1 to 3,000 orders."""
        return await self._cancels.cancel_by_ids(order_ids)

    async def cancel_market_orders(
        self, *, market: str | None = None, asset_id: str | None = None
    ) -> CancelAllResult:
        """Cancels every open order of the wallet in a market, or in one of its tokens, and orders in transit.

        Calls of this client that wait and have an order of it end as by `cancel_all`.
        """
        return await self._cancels.cancel_market(market, asset_id)

    async def cancel_all(self) -> CancelAllResult:
        """Cancels every open order of the wallet, and orders in transit.

        Placements of this client that wait, to be sent or to be sent again, are not sent any more:
        they end with the code `client_canceled`, or by what the log says.
        """
        return await self._cancels.cancel_all()

    def start_heartbeat(
        self,
        *,
        interval_ms: int = default_interval_ms,
        on_miss: Callable[[], None] | None = None,
        on_error: Callable[[Exception, bool], None] | None = None,
    ) -> Heartbeat:
        """Opens a session: from the first beat on, silence cancels all orders of this key (sessions.md).

        The key is silent when nothing beats for it, so each process needs a key of its own (`connect`
        with another nonce).
        `interval_ms` 5 s: two beats may be lost before orders are canceled, 10 to 15 s after the
        last one that was accepted. `on_miss`: the session was missed, all orders of the key are
        being canceled, and placements of this client that wait to be sent have ended, as by
        `cancel_all`; heartbeats go on with a new session. `on_error(error, is_over)`: a beat
        failed; the next one follows within a second, unless `is_over`: then waiting does not help, and
        the loop has ended. Without this callback such an end goes to the exception handler of the loop.
        """
        return Heartbeat(
            self._connection, interval_ms=interval_ms, on_miss=on_miss, on_error=on_error
        )

    async def book(self, token_id: str) -> BookSnapshot:
        """Bids from low to high, asks from high to low: the best level is the last."""
        return await self.public.book(token_id)

    async def books(self, token_ids: Sequence[str]) -> list[BookSnapshot]:
        """Of up to 500 tokens."""
        return await self.public.books(token_ids)

    async def price(self, token_id: str, side: Side) -> Decimal:
        """The best price on a side: BUY is the best ask. Raises `ExchangeError` 404 when it is empty."""
        return await self.public.price(token_id, side)

    async def midpoint(self, token_id: str) -> Decimal:
        """Raises `ExchangeError` 404 when a side is empty."""
        return await self.public.midpoint(token_id)

    def sign_request(self, sent: HttpRequest) -> SignedRequest:
        """A signed request, for tools that send it themselves."""
        headers = {"content-type": "application/json", **self._connection.sign(sent).headers}
        body = "" if sent.body is None else body_text(sent.body)
        return SignedRequest(self._connection.base_url + sent.path, sent.method, headers, body)

    async def read(self, path: str, query: Query | None = None) -> object:
        """Any public read, by path and query, as JSON; numbers with a fraction are `Decimal`."""
        return await self._connection.read(object, path, query)

    async def read_own(self, path: str, query: Query | None = None) -> object:
        """Any read that belongs to the caller's API key."""
        return await self._connection.read_own(object, path, query)

    async def _neg_risk(self, token_id: str, retry_budget: RetryBudget) -> bool:
        known = self._neg_risk_of.get(token_id)
        if known is None:
            sending = Sending(retry_budget=retry_budget)
            query = {"token_id": token_id}
            answer = await self._connection.read(NegRiskResponse, "/neg-risk", query, sending)
            known = answer.neg_risk
            self._neg_risk_of[token_id] = known
        return known

    def _wallet(self) -> Signer:
        if self._signer is None:
            raise RuntimeError("this client has no signer")
        return self._signer
