"""The domain that a client signs for."""

from __future__ import annotations

from .connection import Connection, Sending
from .eip712 import SigningDomain, is_family_domain
from .errors import SigningDomainError
from .models import SigningDomainResponse
from .retry import RetryBudget


class PinnedDomain:
    """The first one stays and is never replaced.

    Who may choose it could have orders signed that are carried out at another exchange: so it
    stays the same, and a domain that other exchanges share is refused.
    """

    def __init__(self, connection: Connection, given: SigningDomain | None) -> None:
        self._connection = connection
        self._pinned = None if given is None else _own(given)

    async def get(self, retry_budget: RetryBudget) -> SigningDomain:
        """The domain, fetched within the retry budget of the call.

        The fetch of another call may end later than that.
        """
        if self._pinned is None:
            fetched = _own(await published_domain(self._connection, retry_budget))
            self._pinned = self._pinned or fetched
        return self._pinned

    async def verify(self, retry_budget: RetryBudget) -> None:
        """Raises `SigningDomainError` unless the exchange publishes the pinned domain."""
        pinned = await self.get(retry_budget)
        published = _own(await published_domain(self._connection, retry_budget))
        if pinned != published:
            raise SigningDomainError(
                f"the exchange publishes the signing domain {published}, "
                f"and this client signs for {pinned}"
            )


async def published_domain(
    connection: Connection, retry_budget: RetryBudget | None = None
) -> SigningDomain:
    """What the exchange publishes now, read within the given budget or one of its own."""
    sending = Sending(retry_budget=retry_budget)
    answer = await connection.read(SigningDomainResponse, "/signing-domain", None, sending)
    return SigningDomain(
        answer.name, answer.version, answer.chain_id, answer.exchange, answer.neg_risk_exchange
    )


def _own(domain: SigningDomain) -> SigningDomain:
    if is_family_domain(domain):
        raise SigningDomainError(
            f"orders signed for {domain} could be carried out at other exchanges"
        )
    return domain._replace(
        exchange=domain.exchange.lower(), neg_risk_exchange=domain.neg_risk_exchange.lower()
    )
