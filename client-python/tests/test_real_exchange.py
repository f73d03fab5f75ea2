"""The client against a real exchange at PM_BASE_URL, which has markets and funded Hardhat wallets."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from decimal import Decimal
from typing import Any, TypeVar

import pytest

from exchange_client import (
    ExchangeClient,
    ExchangeError,
    OrderIntent,
    StreamError,
    wallet_from_private_key,
)
from exchange_client.streams import socket
from exchange_client.streams.frames import Json, parse_frame
from exchange_client.streams.messages import (
    OrderChange,
    OrdersSnapshot,
    OwnEvent,
    OwnFill,
    OwnOrderEvent,
    OwnSnapshot,
)

from .declared_frames import problem_of

T = TypeVar("T")

base_url = os.environ.get("PM_BASE_URL", "")
pytestmark = pytest.mark.skipif(base_url == "", reason="PM_BASE_URL names no exchange")

#: The ninth and the tenth public Hardhat account: no other test counts what they traded.
signer = wallet_from_private_key(
    "0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97"
)
maker_signer = wallet_from_private_key(
    "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6"
)
wait_seconds = 60


@pytest.fixture(autouse=True)
def declared_frames_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every frame of the exchange is as docs/asyncapi.json declares it."""
    problems: list[str] = []

    def checked(text: str | bytes) -> Json:
        problem = problem_of(json.loads(text), of_client=False)
        if problem is not None:
            problems.append(problem)
        return parse_frame(text)

    monkeypatch.setattr(socket, "parse_frame", checked)
    yield
    assert problems == []


@pytest.fixture
async def client() -> AsyncIterator[ExchangeClient]:
    async with ExchangeClient(base_url, signer=signer) as one:
        await one.connect()
        yield one


async def open_market(client: ExchangeClient) -> tuple[str, list[str]]:
    async for event in client.public.events(closed=False):
        for market in event.markets:
            return market.condition_id, market.clob_token_ids
    raise LookupError("the exchange has no markets")


async def read_all(rows: AsyncIterator[object]) -> None:
    """Reads every page, so that every row is held against its model."""
    async for row in rows:
        assert row


async def test_public_reads_have_the_declared_forms(client: ExchangeClient) -> None:
    public = client.public
    assert abs(await public.time() - time.time()) < 300
    assert {one.projection for one in (await public.status()).projections} >= {"tables"}
    condition, [token, other] = await open_market(client)
    assert {book.asset_id for book in await client.books([token, other])} <= {token, other}
    assert (await public.book(token)).asset_id == token
    assert await public.tick_size(token) > 0
    assert isinstance(await public.neg_risk(token), bool)
    await public.fee_rate(token)
    await public.prices([token, other])
    await public.midpoints([token])
    await public.spreads([token])
    await public.last_trades_prices([token])
    await public.prices_history(token, interval="1d", fidelity=60)
    await public.batch_prices_history([token], interval="1d")
    await public.candles(token, interval="1h")
    [market] = [one async for one in public.markets(condition_ids=[condition])]
    assert (await public.market_by_slug(market.slug)).condition_id == condition
    await public.search("the")
    await public.tags()
    await public.leaderboard(time_period="ALL")
    await public.holders([condition])
    await public.open_interest([condition])
    await read_all(public.trades(market=[condition]))
    await read_all(public.activity(signer.address))
    await read_all(public.positions(signer.address))
    await read_all(public.comments(parent_entity_id=1))


async def test_an_order_is_placed_read_and_canceled(client: ExchangeClient) -> None:
    condition, [token, _other] = await open_market(client)
    tick = await client.public.tick_size(token)
    intent = OrderIntent(token_id=token, side="BUY", price=tick, size="100", post_only=True)
    order = await client.prepare_order(intent)
    [finding] = await client.own.validate([order])
    assert finding.valid, finding.error_msg
    placed = await client.post_order(order)
    assert (placed.success, placed.status, placed.order_id) == (True, "live", order.order_id)
    # The same signed order is the same order.
    assert (await client.post_order(order)).order_id == order.order_id
    stored = await client.own.order(order.order_id)
    assert (stored.price, stored.original_size) == (tick, Decimal(100))
    assert order.order_id in [one.id async for one in client.own.open_orders(market=condition)]
    assert (await client.cancel_order(order.order_id)).canceled == [order.order_id]
    results = await client.place_orders([intent, intent])
    assert [one.success for one in results] == [True, True]
    ids = [one.order_id for one in results]
    assert sorted((await client.cancel_orders(ids)).canceled) == sorted(ids)
    refused = await client.place_order(
        OrderIntent(token_id=token, side="BUY", price=tick, size="0.01")
    )
    assert (refused.success, refused.code) == (False, "invalid_size")


async def test_both_sides_of_an_own_trade_are_seen(client: ExchangeClient) -> None:
    condition, [token, _other] = await open_market(client)
    async with ExchangeClient(base_url, signer=maker_signer) as maker:
        await maker.connect()
        await maker.account.split(condition, 20)
        book = await client.book(token)
        price = (
            book.bids[-1].price + await client.public.tick_size(token)
            if book.bids
            else Decimal("0.5")
        )
        sale = OrderIntent(token_id=token, side="SELL", price=price, size=20)
        assert (await maker.place_order(sale)).success
    buy = OrderIntent(token_id=token, side="BUY", price=price, size=20, time_in_force="FAK")
    bought = await client.place_order(buy)
    assert bought.status == "matched"
    assert bought.taking_amount is not None
    assert bought.taking_amount > 0
    ids = [trade.id async for trade in client.own.trades(market=condition)]
    assert set(bought.trade_ids or []) <= set(ids)
    async with asyncio.timeout(wait_seconds):
        while not [row async for row in client.public.trades(market=[condition])]:
            await asyncio.sleep(0.5)


async def test_balances_and_limits_are_read(client: ExchangeClient) -> None:
    async with asyncio.timeout(wait_seconds):
        while True:
            [wallet, *_] = await client.own.balances()
            assert wallet.usdc.total == wallet.usdc.free + wallet.usdc.held
            allowance = await client.own.balance_allowance()
            # The ledger may take a trade of the test before between the two.
            if allowance.balance == int(wallet.usdc.total * 1_000_000):
                break
    await client.own.rate_limits()
    await client.own.notifications()
    assert any(key.status == "active" for key in await client.keys.list())
    assert await client.keys.is_closed_only() is False


async def test_a_session_is_kept_by_heartbeats(client: ExchangeClient) -> None:
    heartbeat = client.start_heartbeat(interval_ms=300)
    await heartbeat.started()
    async with asyncio.timeout(wait_seconds):
        while heartbeat.beats < 3:
            await asyncio.sleep(0.1)
    await heartbeat.stop()


async def test_a_refused_request_is_an_error_with_a_code(client: ExchangeClient) -> None:
    with pytest.raises(ExchangeError) as failure:
        await client.own.order("0x" + "0" * 64)
    assert failure.value.status == 404


async def test_the_streamed_book_equals_the_read_one(client: ExchangeClient) -> None:
    _condition, [token, _other] = await open_market(client)
    tick = await client.public.tick_size(token)
    intent = OrderIntent(token_id=token, side="BUY", price=tick, size="100", post_only=True)
    async with asyncio.timeout(wait_seconds), aclosing(client.stream.book(token)) as updates:
        try:
            update = await anext(updates)
        except StreamError as error:
            if error.code == "refused":
                pytest.skip("this exchange serves no streams")
            raise
        assert update.is_snapshot
        order = await client.place_order(intent)
        while not any(level.price == tick for level in update.bids):
            update = await anext(updates)
        await client.cancel_order(order.order_id)
        while True:
            read = await client.book(token)
            streamed = [(level.price, level.size) for level in update.book.bids]
            if streamed == [(level.price, level.size) for level in read.bids]:
                break
            update = await anext(updates)


async def find(messages: AsyncGenerator[T, None], is_wanted: Callable[[T], bool]) -> list[T]:
    """What comes until a wanted message has come, that one last."""
    seen: list[T] = []
    async with asyncio.timeout(wait_seconds), aclosing(messages):
        async for message in messages:
            seen.append(message)
            if is_wanted(message):
                break
    return seen


async def sell_and_buy(client: ExchangeClient, condition: str, token: str) -> None:
    """A sale of another wallet rests, and the own one buys all of it."""
    book = await client.book(token)
    tick = await client.public.tick_size(token)
    price = book.bids[-1].price + tick if book.bids else Decimal("0.5")
    async with ExchangeClient(base_url, signer=maker_signer) as maker:
        await maker.connect()
        await maker.account.split(condition, 20)
        sale = OrderIntent(token_id=token, side="SELL", price=price, size=20)
        assert (await maker.place_order(sale)).success
    buy = OrderIntent(token_id=token, side="BUY", price=price, size=20, time_in_force="FAK")
    assert (await client.place_order(buy)).status == "matched"


async def test_every_channel_shows_a_trade(client: ExchangeClient) -> None:
    event = await anext(client.public.events(closed=False))
    condition, token = event.markets[0].condition_id, event.markets[0].clob_token_ids[0]
    stream = client.stream
    trades = asyncio.create_task(find(stream.trades([condition]), lambda _one: True))
    own = asyncio.create_task(find(client.own.events(), is_placement))
    others: list[asyncio.Task[list[Any]]] = [
        asyncio.create_task(find(stream.best([token]), lambda one: one.ask is not None)),
        asyncio.create_task(find(stream.orders([condition]), is_removal)),
        asyncio.create_task(find(stream.activity([condition]), lambda _one: True)),
        asyncio.create_task(find(stream.comments([event.id]), lambda _one: True)),
        asyncio.create_task(find(stream.markets([condition]), lambda _one: True)),
        asyncio.create_task(find(stream.markets(), lambda one: one.market == condition)),
    ]
    tasks: list[asyncio.Task[Any]] = [trades, own, *others]
    while not all(task.done() for task in tasks):
        await sell_and_buy(client, condition, token)
        await client.comments.write("A row of a stream.", parent_entity_id=event.id)
        await asyncio.wait(tasks, timeout=1)
    for task in others:
        assert await task
    seen = await own
    assert isinstance(seen[0], OwnSnapshot)
    # Fills of a record come before what became of its order.
    assert any(isinstance(one, OwnFill) for one in seen)
    [trade] = await trades
    assert trade.id in [one.id async for one in client.own.trades(market=condition)]


def is_removal(one: OrdersSnapshot | OrderChange) -> bool:
    return isinstance(one, OrderChange) and one.action == "remove"


def is_placement(one: OwnEvent) -> bool:
    return isinstance(one, OwnOrderEvent) and one.event == "placed"
