"""The domain that a client signs for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from .eip712 import SigningDomain, is_family_domain
from .errors import SigningDomainError


class PinnedDomain:
    """Fetched once and never replaced.

    Who may choose it could have orders signed that are carried out at another exchange: so it
    stays the same, and a domain that other exchanges share is refused.
    """

    def __init__(
        self, fetch: Callable[[], Awaitable[SigningDomain]], given: SigningDomain | None
    ) -> None:
        self._fetch = fetch
        self._pinned = None if given is None else _own(given)
        self._lock = asyncio.Lock()

    async def get(self) -> SigningDomain:
        """The domain; a fetch that failed is repeated by the next call."""
        async with self._lock:
            if self._pinned is None:
                self._pinned = _own(await self._fetch())
            return self._pinned

    async def verify(self) -> None:
        """Raises `SigningDomainError` unless the exchange publishes the pinned domain."""
        pinned, published = await self.get(), _own(await self._fetch())
        if pinned != published:
            raise SigningDomainError(
                f"the exchange publishes the signing domain {published}, "
                f"and this client signs for {pinned}"
            )


def _own(domain: SigningDomain) -> SigningDomain:
    if is_family_domain(domain):
        raise SigningDomainError(
            f"orders signed for {domain} could be carried out at other exchanges"
        )
    return domain._replace(
        exchange=domain.exchange.lower(), neg_risk_exchange=domain.neg_risk_exchange.lower()
    )
