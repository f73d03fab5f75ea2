"""Money as integers: prices in 1/10000 USDC, sizes in micro-shares, amounts in micro-USDC. Never `float`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TypeAlias

#: A price, a size or an amount as the caller writes it. `float` is refused: 0.1 is not a tenth.
DecimalLike: TypeAlias = Decimal | int | str

price_one = 10_000
"""1 USDC in units of a price."""

micro_per_unit = 1_000_000
"""Micro-shares in a share, and micro-USDC in a USDC."""

lot_micro = 10_000
"""Micro-shares in a lot of 0.01 share, the smallest step of any size."""

_plain_decimal = re.compile(r"(0|[1-9][0-9]{0,15})(?:\.([0-9]{1,6}))?", re.ASCII)
_safe_integer_max = 2**53 - 1


def parse_price(value: DecimalLike) -> int:
    """0.52 is 5200. Raises `ValueError` for anything but a plain decimal of up to four places."""
    return _parse(value, 4)


def parse_micro(value: DecimalLike) -> int:
    """1.5 is 1500000. Raises `ValueError` for anything but a plain decimal of up to six places."""
    return _parse(value, 6)


def price_text(price: int) -> str:
    """5200 is "0.52": no exponent and no zeros at the end, as on the wire."""
    return _text(price, 4)


def micro_text(micro: int) -> str:
    """1500000 is "1.5"; for shares and USDC alike."""
    return _text(micro, 6)


def decimal_text(value: DecimalLike) -> str:
    """The wire form of an amount. Raises `ValueError` like `parse_micro`."""
    return micro_text(parse_micro(value))


def notional_micro(price: int, size_micro: int) -> int:
    """Micro-USDC that `size_micro` shares cost at `price`. Exact for whole lots."""
    return price * (size_micro // lot_micro)


def affordable_micro(price: int, amount_micro: int) -> int:
    """The largest number of micro-shares, in whole lots, that `amount_micro` buys at `price`."""
    return amount_micro // price * lot_micro


def _parse(value: DecimalLike, places: int) -> int:
    # bool is an int, and float is what this module exists to avoid.
    if isinstance(value, bool) or not isinstance(value, Decimal | int | str):
        raise TypeError(f"amounts are Decimal, int or str, not {type(value).__name__}")
    text = _decimal_words(value) if isinstance(value, Decimal) else str(value)
    match = _plain_decimal.fullmatch(text)
    if match is None or len(match[2] or "") > places:
        raise ValueError(f"not a plain decimal of up to {places} places: {value}")
    units = int(match[1] + (match[2] or "").ljust(places, "0"))
    if units > _safe_integer_max:
        raise ValueError(f"larger than the exchange counts: {value}")
    return units


def _decimal_words(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _text(value: int, places: int) -> str:
    sign, magnitude = ("-", -value) if value < 0 else ("", value)
    whole, rest = divmod(magnitude, 10**places)
    fraction = str(rest).rjust(places, "0").rstrip("0") if rest else ""
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"
