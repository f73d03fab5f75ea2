"""What wallets sign (conventions.md 2.1, 3.2, 3.3; first-order.md has every byte)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from eth_utils.crypto import keccak

Side: TypeAlias = Literal["BUY", "SELL"]
SignatureType: TypeAlias = Literal[0, 1, 2, 3]


class SigningDomain(NamedTuple):
    """What orders and the wallet's proof are signed for: that of one installation."""

    name: str
    version: str
    chain_id: int
    exchange: str
    """Verifying contract of ordinary markets, lower case."""
    neg_risk_exchange: str
    """Verifying contract of neg-risk markets, lower case."""


_family_contracts = frozenset(
    (
        "0xe111180000d2663c0091e4f400237545b87b996b",
        "0xe2222d279d744050d28e00520010520000310f59",
        "0xaa1b8de834e16ec69c044f5300041673c968c9ef",
        "0xe7fa09ca716fdf498d74aff618d32afeacc310ab",
        "0xacd95f4f42322c7be215c170362eec57ef4e78c2",
        "0x961d3230b3bbdb2592d20fa34dbd12fa19240603",
    )
)


def is_family_domain(domain: SigningDomain) -> bool:
    """Whether other exchanges of the API family accept what is signed for it."""
    contracts = {domain.exchange.lower(), domain.neg_risk_exchange.lower()}
    return not contracts.isdisjoint(_family_contracts)


order_type = (
    "Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,"
    "uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,"
    "bytes32 builder)"
)
_wrapped_type = (
    "TypedDataSign(Order contents,string name,string version,uint256 chainId,"
    f"address verifyingContract,bytes32 salt){order_type}"
)
_domain_type = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
_l1_type = "ClobAuth(address address,string timestamp,uint256 nonce,string message)"
l1_create_message = "Create the API key of this nonce, or show its secret"
"""What a wallet signs to obtain an API key; proofs for other purposes have other messages."""


@dataclass(frozen=True, slots=True)
class OrderStruct:
    """The eleven signed fields of an order. Amounts are base units (10^-6)."""

    salt: int
    maker: str
    signer: str
    token_id: int
    maker_amount: int
    taker_amount: int
    side: Side
    signature_type: SignatureType
    timestamp_ms: int
    metadata: str
    builder: str


def _hash_text(text: str) -> bytes:
    return bytes(keccak(text=text))


def _hash(*parts: bytes) -> bytes:
    return bytes(keccak(b"".join(parts)))


def _word(value: int) -> bytes:
    return value.to_bytes(32, "big")


def _hex_word(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x").rjust(64, "0"))


_order_type_hash = _hash_text(order_type)
_wrapped_type_hash = _hash_text(_wrapped_type)
_domain_type_hash = _hash_text(_domain_type)
_l1_type_hash = _hash_text(_l1_type)
_prefix = b"\x19\x01"


def domain_separator(domain: SigningDomain, neg_risk: bool) -> bytes:
    """Separator of an exchange contract; `neg_risk` picks the contract."""
    contract = domain.neg_risk_exchange if neg_risk else domain.exchange
    return _separator(domain.name, domain.version, domain.chain_id, contract)


def _separator(name: str, version: str, chain_id: int, contract: str) -> bytes:
    return _hash(
        _domain_type_hash,
        _hash_text(name),
        _hash_text(version),
        _word(chain_id),
        _hex_word(contract),
    )


def order_struct_hash(order: OrderStruct) -> bytes:
    """Hash of the struct alone."""
    return _hash(
        _order_type_hash,
        _word(order.salt),
        _hex_word(order.maker),
        _hex_word(order.signer),
        _word(order.token_id),
        _word(order.maker_amount),
        _word(order.taker_amount),
        _word(0 if order.side == "BUY" else 1),
        _word(order.signature_type),
        _word(order.timestamp_ms),
        _hex_word(order.metadata),
        _hex_word(order.builder),
    )


def order_digest(order: OrderStruct, separator: bytes) -> bytes:
    """Digest that an externally owned account signs; as 0x-text it is the order's id."""
    return _hash(_prefix, separator, order_struct_hash(order))


def wrapped_digest(order: OrderStruct, separator: bytes, chain_id: int) -> bytes:
    """Digest that the owner of a deposit wallet signs (signature type 3)."""
    wrapped = _hash(
        _wrapped_type_hash,
        order_struct_hash(order),
        _hash_text("DepositWallet"),
        _hash_text("1"),
        _word(chain_id),
        _hex_word(order.maker),
        _word(0),
    )
    return _hash(_prefix, separator, wrapped)


def wrap_signature(inner: str, order: OrderStruct, separator: bytes) -> str:
    """The inner signature and what a contract needs to check it: 317 bytes (conventions.md 3.3)."""
    type_text = order_type.encode("ascii")
    length = len(type_text).to_bytes(2, "big")
    return inner + (separator + order_struct_hash(order) + type_text + length).hex()


def l1_digest(*, address: str, timestamp: str, nonce: int, domain: SigningDomain) -> bytes:
    """Digest that a wallet signs to obtain its API key. `timestamp` is the text of the header."""
    separator = _separator("ClobAuthDomain", "1", domain.chain_id, domain.exchange)
    struct = _hash(
        _l1_type_hash,
        _hex_word(address),
        _hash_text(timestamp),
        _word(nonce),
        _hash_text(l1_create_message),
    )
    return _hash(_prefix, separator, struct)
