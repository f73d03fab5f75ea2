"""Runs the snippets of the README against an exchange, with the package as it is installed.

python scripts/run_readme.py BASE_URL
"""

from __future__ import annotations

import asyncio
import re
import sys
import textwrap
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

from exchange_client import ExchangeClient, wallet_from_private_key

page = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
snippets = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
#: The first public Hardhat account; its key is public.
private_key = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"


async def run(snippet: str, base_url: str, token: str) -> None:
    """Runs it as the body of an async function, with the names that the page says are there."""
    names: dict[str, object] = {"base_url": base_url, "token": token, "private_key": private_key}
    if "signer =" not in snippet:
        names["signer"] = wallet_from_private_key(private_key)
    head = "from exchange_client import ExchangeClient\nasync def snippet():\n"
    exec(head + textwrap.indent(snippet, "    "), names)
    await cast("Callable[[], Awaitable[None]]", names["snippet"])()


async def first_token(base_url: str) -> str:
    async with ExchangeClient(base_url) as client:
        async for event in client.public.events(closed=False):
            for market in event.markets:
                return market.clob_token_ids[0]
    raise LookupError("the exchange has no markets")


async def main(base_url: str) -> None:
    token = await first_token(base_url)
    for number, snippet in enumerate(snippets, 1):
        print(f"== snippet {number} of {len(snippets)}", flush=True)
        async with asyncio.timeout(60):
            await run(snippet, base_url, token)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
