"""Amounts of orders."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

import pytest

from exchange_client import (
    OrderIntent,
    SigningContext,
    build_order,
    micro_text,
    parse_micro,
    parse_price,
    price_text,
)

from .conftest import signer
from .fake_exchange import test_domain

context = SigningContext(signer, test_domain, False, "key", 1_767_225_600_000)


def amounts(**intent: object) -> tuple[int, int]:
    order = build_order(OrderIntent(token_id="7", **intent), context).submission["order"]  # type: ignore[arg-type]
    return int(order["makerAmount"]), int(order["takerAmount"])


def test_a_buy_pays_usdc_for_shares_and_a_sell_the_reverse() -> None:
    assert amounts(side="BUY", price="0.52", size="10") == (5_200_000, 10_000_000)
    assert amounts(side="SELL", price=Decimal("0.52"), size=10) == (10_000_000, 5_200_000)


def test_a_budget_buys_whole_lots() -> None:
    maker, taker = amounts(side="BUY", price="0.3", budget="1", time_in_force="FOK")
    assert (maker, taker) == (1_000_000, 3_330_000)


@pytest.mark.parametrize("seed", range(200))
def test_amounts_are_exact(seed: int) -> None:
    draw = random.Random(seed)
    price, lots = draw.randrange(1, 10_000), draw.randrange(1, 10**9)
    size = Decimal(lots) / 100
    cost, shares = amounts(side="BUY", price=Decimal(price) / 10_000, size=size)
    assert Fraction(cost, 10**6) == Fraction(price, 10**4) * Fraction(lots, 100)
    assert Fraction(shares, 10**6) == Fraction(lots, 100)


@pytest.mark.parametrize(
    "intent",
    [
        {"price": "0", "size": "1"},
        {"price": "-0.5", "size": "1"},
        {"price": "0.52001", "size": "1"},
        {"price": "5e-1", "size": "1"},
        {"price": "0.5", "size": "0.001"},
        {"price": "0.5", "size": "1e3"},
        {"price": "0.5", "size": "٣"},
        {"price": "0.5"},
        {"price": "0.5", "budget": Decimal("NaN")},
    ],
)
def test_what_is_no_plain_decimal_is_refused(intent: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"not a|needs a"):
        amounts(side="BUY", **intent)


def test_float_is_refused_everywhere() -> None:
    with pytest.raises(TypeError, match="not float"):
        amounts(side="BUY", price=0.52, size="1")
    with pytest.raises(TypeError, match="not float"):
        amounts(side="BUY", price="0.52", size=1.0)
    with pytest.raises(TypeError, match="not bool"):
        parse_micro(True)


@pytest.mark.parametrize("seed", range(100))
def test_texts_of_amounts_are_read_back(seed: int) -> None:
    units = random.Random(seed).getrandbits(50)
    assert parse_micro(micro_text(units)) == units
    assert parse_micro(Decimal(micro_text(units))) == units
    assert parse_price(price_text(units)) == units


def test_salts_make_orders_unlike() -> None:
    intent = OrderIntent(token_id="7", side="BUY", price="0.5", size="1")
    assert len({build_order(intent, context).order_id for _ in range(20)}) == 20
