"""The domain that a client signs for."""

from __future__ import annotations

import pytest

from exchange_client import ExchangeClient, OrderIntent, SigningDomain, SigningDomainError

from .conftest import quick, signer
from .fake_exchange import FakeExchange, test_domain

other = SigningDomain("Another", "2", 137, "0x" + "6a" * 20, "0x" + "6b" * 20)
family = SigningDomain(
    "Polymarket CTF Exchange",
    "2",
    137,
    "0xE111180000d2663C0091e4f400237545B87B996B",
    "0xe2222d279d744050d28e00520010520000310f59",
)
intent = OrderIntent(token_id="7", side="BUY", price="0.5", size="10")


async def test_a_fetched_domain_stays_when_the_exchange_publishes_another(
    fake: FakeExchange, client: ExchangeClient
) -> None:
    await client.verify_signing_domain()
    fake.domain = other
    assert (await client.place_order(intent)).success
    assert await client.signing_domain() == test_domain
    with pytest.raises(SigningDomainError, match="publishes the signing domain"):
        await client.verify_signing_domain()


async def test_a_given_domain_is_signed_for_whatever_the_exchange_publishes(
    fake: FakeExchange,
) -> None:
    fake.domain = other
    async with ExchangeClient(
        fake.base_url, signer=signer, domain=test_domain, retry=quick
    ) as client:
        await client.connect()
        assert (await client.place_order(intent)).order_id in fake.booked
        with pytest.raises(SigningDomainError):
            await client.verify_signing_domain()


async def test_nothing_is_signed_for_a_domain_that_other_exchanges_share(
    fake: FakeExchange,
) -> None:
    fake.domain = family
    async with ExchangeClient(fake.base_url, signer=signer, retry=quick) as client:
        with pytest.raises(SigningDomainError, match="other exchanges"):
            await client.connect()
        fake.domain = test_domain
        await client.connect()
    with pytest.raises(SigningDomainError, match="other exchanges"):
        ExchangeClient(fake.base_url, signer=signer, domain=family)
