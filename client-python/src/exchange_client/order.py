"""Builds and signs orders."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Literal, NotRequired, TypeAlias, TypedDict

from .amounts import (
    DecimalLike,
    affordable_micro,
    lot_micro,
    notional_micro,
    parse_micro,
    parse_price,
)
from .eip712 import (
    OrderStruct,
    Side,
    SignatureType,
    SigningDomain,
    domain_separator,
    order_digest,
    wrap_signature,
    wrapped_digest,
)
from .wallet import Signer

TimeInForce: TypeAlias = Literal["GTC", "GTD", "FOK", "FAK"]

_zero32 = "0x" + "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderIntent:
    """An order as the trader writes it: prices and sizes as `Decimal` or decimal text."""

    token_id: str
    side: Side
    price: DecimalLike
    """USDC per share, "0.52"."""
    size: DecimalLike | None = None
    """Shares, whole hundredths: "10.5". Leave out for a market buy by budget."""
    budget: DecimalLike | None = None
    """USDC to spend; FOK and FAK buys only."""
    time_in_force: TimeInForce = "GTC"
    post_only: bool | None = None
    expiration: int = 0
    """GTD: Unix seconds."""
    maker: str | None = None
    """Wallet whose money moves, if it is not the signer's own."""
    signature_type: SignatureType = 0
    """0 EOA, 1 proxy, 2 Safe, 3 deposit wallet."""
    builder: str | None = None


@dataclass(frozen=True, slots=True)
class SigningContext:
    """Where and for whom an order is signed."""

    signer: Signer
    domain: SigningDomain
    neg_risk: bool
    owner: str
    """API key the order is sent with."""
    now_ms: int


class UnsignedOrder(TypedDict):
    """The order without a signature; all numbers but `signatureType` are texts."""

    salt: str
    maker: str
    signer: str
    tokenId: str
    makerAmount: str
    takerAmount: str
    side: Side
    signatureType: SignatureType
    timestamp: str
    metadata: str
    builder: str
    expiration: str


class SignedOrder(UnsignedOrder):
    """The order as it is sent."""

    signature: str


class UnsignedSubmission(TypedDict):
    """An item of `POST /orders/validate` without a signature (conventions.md 3.11)."""

    order: UnsignedOrder
    owner: str
    orderType: TimeInForce
    postOnly: NotRequired[bool]


class OrderSubmission(TypedDict):
    """The item of `POST /orders` (conventions.md 3.1)."""

    order: SignedOrder
    owner: str
    orderType: TimeInForce
    postOnly: NotRequired[bool]


@dataclass(frozen=True, slots=True)
class BuiltOrder:
    order_id: str
    submission: OrderSubmission


def build_order(
    intent: OrderIntent, context: SigningContext, *, salt: int | None = None
) -> BuiltOrder:
    """Builds and signs an order. `salt` is random unless a test fixes it.

    Raises `ValueError` when price, size or budget are no decimals the exchange knows, and
    `TypeError` for `float`.
    """
    maker_micro, taker_micro = _amounts_of(intent)
    maker = intent.maker or context.signer.address
    struct = OrderStruct(
        salt=secrets.randbits(48) if salt is None else salt,
        maker=maker,
        signer=maker if intent.signature_type == 3 else context.signer.address,
        token_id=int(intent.token_id),
        maker_amount=maker_micro,
        taker_amount=taker_micro,
        side=intent.side,
        signature_type=intent.signature_type,
        timestamp_ms=context.now_ms,
        metadata=_zero32,
        builder=intent.builder or _zero32,
    )
    order_id, signature = _sign_order(struct, context)
    return BuiltOrder(order_id, _submission_of(struct, signature, intent, context.owner))


def _sign_order(struct: OrderStruct, context: SigningContext) -> tuple[str, str]:
    separator = domain_separator(context.domain, context.neg_risk)
    digest = order_digest(struct, separator)
    order_id = "0x" + digest.hex()
    if struct.signature_type != 3:
        return order_id, context.signer.sign(digest)
    inner = context.signer.sign(wrapped_digest(struct, separator, context.domain.chain_id))
    return order_id, wrap_signature(inner, struct, separator)


def _submission_of(
    struct: OrderStruct, signature: str, intent: OrderIntent, owner: str
) -> OrderSubmission:
    submission: OrderSubmission = {
        "order": {
            "salt": str(struct.salt),
            "maker": struct.maker,
            "signer": struct.signer,
            "tokenId": str(struct.token_id),
            "makerAmount": str(struct.maker_amount),
            "takerAmount": str(struct.taker_amount),
            "side": struct.side,
            "signatureType": struct.signature_type,
            "timestamp": str(struct.timestamp_ms),
            "metadata": struct.metadata,
            "builder": struct.builder,
            "expiration": str(intent.expiration),
            "signature": signature,
        },
        "owner": owner,
        "orderType": intent.time_in_force,
    }
    if intent.post_only is not None:
        submission["postOnly"] = intent.post_only
    return submission


def _amounts_of(intent: OrderIntent) -> tuple[int, int]:
    """Base units of maker and taker: a BUY pays USDC for shares, a SELL the reverse (conventions.md 3.4)."""
    price = parse_price(intent.price)
    if price <= 0:
        raise ValueError(f"not a price: {intent.price}")
    if intent.budget is not None:
        budget_micro = parse_micro(intent.budget)
        return budget_micro, affordable_micro(price, budget_micro)
    if intent.size is None:
        raise ValueError("an order needs a size, or a budget")
    size_micro = parse_micro(intent.size)
    if size_micro % lot_micro != 0:
        raise ValueError(f"not a size in whole hundredths of a share: {intent.size}")
    cost_micro = notional_micro(price, size_micro)
    return (cost_micro, size_micro) if intent.side == "BUY" else (size_micro, cost_micro)
