"""A small market maker with one of the public test wallets.

It quotes both sides around the midpoint of the streamed book for a while, under heartbeats, so that its orders go when
it dies, and takes everything off at the end.

python examples/market_maker.py [BASE_URL] [SECONDS]
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from decimal import ROUND_HALF_EVEN, Decimal

from exchange_client import BookUpdate, ExchangeClient, OrderIntent, wallet_from_private_key

base_url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 15
# The second public Hardhat account; its key is public.
signer = wallet_from_private_key(
    "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"
)


async def main() -> None:
    async with ExchangeClient(base_url, signer=signer) as client:
        await client.connect()
        condition, tokens = await quoted_market(client)
        heartbeat = client.start_heartbeat(
            on_miss=lambda: print("the session was missed: all orders are canceled")
        )
        await heartbeat.started()
        try:
            async with asyncio.timeout(seconds):
                await quote_for_ever(client, condition, tokens)
        except TimeoutError:
            result = await client.cancel_all()
            print(f"canceled {len(result.canceled)} orders after {heartbeat.beats} beats")
        finally:
            await heartbeat.stop()


async def quote_for_ever(client: ExchangeClient, condition: str, tokens: list[str]) -> None:
    """Replaces both quotes whenever the midpoint has moved."""
    quoted: Decimal | None = None
    async with aclosing(client.stream.book(tokens[0])) as updates:
        async for update in updates:
            middle = middle_of(update)
            if middle is not None and middle != quoted:
                quoted = middle
                await client.cancel_market_orders(market=condition)
                await quote(client, tokens, middle)


def middle_of(update: BookUpdate) -> Decimal | None:
    """The midpoint in whole cents; None when a side is empty."""
    midpoint = update.book.midpoint
    return None if midpoint is None else midpoint.quantize(Decimal("0.01"), ROUND_HALF_EVEN)


async def quote(client: ExchangeClient, tokens: list[str], middle: Decimal) -> None:
    """Bids 2 cents below the midpoint on either token, which is a bid and an offer of the first."""
    edge = Decimal("0.02")
    prices = [middle - edge, 1 - middle - edge]
    intents = [
        OrderIntent(token_id=token, side="BUY", price=price, size=20, post_only=True)
        for token, price in zip(tokens, prices, strict=True)
        if price > 0
    ]
    results = await client.place_orders(intents)
    print(f"around {middle}: {', '.join(one.status or one.code or '' for one in results)}")


async def quoted_market(client: ExchangeClient) -> tuple[str, list[str]]:
    """The first market with both sides, which has a midpoint."""
    markets = [
        market async for event in client.public.events(active=True) for market in event.markets
    ]
    books = await client.books([market.clob_token_ids[0] for market in markets[:500]])
    quoted = {book.asset_id for book in books if book.bids and book.asks}
    for market in markets:
        if market.clob_token_ids[0] in quoted:
            return market.condition_id, market.clob_token_ids
    raise SystemExit("no market has quotes yet; try again in a moment")


asyncio.run(main())
