"""A first trade with one of the public test wallets: look at a book, buy at the best ask, read the position.

python examples/first_trade.py [BASE_URL]
"""

from __future__ import annotations

import asyncio
import sys
from decimal import ROUND_UP, Decimal

from exchange_client import ExchangeClient, OrderIntent, wallet_from_private_key

base_url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
# The first public Hardhat account; its key is public.
signer = wallet_from_private_key(
    "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
)


async def main() -> None:
    async with ExchangeClient(base_url, signer=signer) as client:
        await client.connect()
        tokens = [
            market.clob_token_ids[0]
            async for event in client.public.events(active=True)
            for market in event.markets
        ]
        books = await client.books(tokens[:500])
        book = next((one for one in books if one.asks), None)
        if book is None:
            raise SystemExit("no market has an ask yet; try again in a moment")
        best = book.asks[-1]
        print(f"best ask of token {book.asset_id[:12]}...: {best.size} at {best.price}")
        # An order that buys at once must be worth a dollar at least; this one is worth five.
        size = (Decimal(5) / best.price).quantize(Decimal(1), ROUND_UP)
        result = await client.place_order(
            OrderIntent(
                token_id=book.asset_id,
                side="BUY",
                price=best.price,
                size=size,
                time_in_force="FAK",
            )
        )
        print("the order:", result.status or result.code, result.making_amount)
        await asyncio.sleep(1.5)
        async for position in client.public.positions(signer.address):
            print(f"{position.size} of {position.title}, outcome {position.outcome}")


asyncio.run(main())
