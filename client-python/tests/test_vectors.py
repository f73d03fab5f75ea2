"""What is signed: the published page, the published vectors, and eth-account's own encoder."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_utils.crypto import keccak

from exchange_client import (
    KeyOfWallet,
    OrderIntent,
    SigningContext,
    SigningDomain,
    build_order,
    signed_headers,
    wallet_from_private_key,
)
from exchange_client.eip712 import (
    OrderStruct,
    Side,
    SignatureType,
    domain_separator,
    l1_digest,
    order_digest,
    order_struct_hash,
    order_type,
    wrap_signature,
    wrapped_digest,
)
from exchange_client.http import body_text

root = Path(__file__).parent.parent.parent
page = (root / "docs/trading/first-order.md").read_text("utf-8")
given = dict(re.findall(r"^([a-z][a-z0-9_]*) = (.+)$", page, re.M))
signer = wallet_from_private_key(given["private_key"])
page_domain = SigningDomain(
    given["domain_name"],
    given["domain_version"],
    int(given["chain_id"]),
    given["exchange"],
    given["neg_risk_exchange"],
)
#: Beside the repository, because its licence forbids a copy.
published_file = root.parent / "shared/data/signature-vectors.json"

order_fields = [
    dict(zip(("type", "name"), one.split(" "), strict=True)) for one in order_type[6:-1].split(",")
]


def page_struct(wallet: str, signature_type: SignatureType) -> OrderStruct:
    return OrderStruct(
        salt=int(given["salt"]),
        maker=wallet,
        signer=wallet,
        token_id=int(given["token_id"]),
        maker_amount=int(given["maker_amount"]),
        taker_amount=int(given["taker_amount"]),
        side="BUY",
        signature_type=signature_type,
        timestamp_ms=int(given["timestamp"]),
        metadata=given["metadata"],
        builder=given["builder"],
    )


def test_the_wallet_is_proved_as_the_page_says() -> None:
    assert signer.checksummed == given["address"]
    digest = l1_digest(
        address=signer.address,
        timestamp=given["l1_timestamp"],
        nonce=int(given["l1_nonce"]),
        domain=page_domain,
    )
    assert "0x" + digest.hex() == given["l1_digest"]
    assert signer.sign(digest) == given["l1_signature"]


def test_an_order_is_signed_as_the_page_says() -> None:
    separator = domain_separator(page_domain, False)
    assert "0x" + separator.hex() == given["separator"]
    assert "0x" + domain_separator(page_domain, True).hex() == given["neg_risk_separator"]
    intent = OrderIntent(token_id=given["token_id"], side="BUY", price="0.52", size="10")
    context = SigningContext(signer, page_domain, False, given["api_key"], int(given["timestamp"]))
    built = build_order(intent, context, salt=int(given["salt"]))
    assert built.order_id == given["order_id"]
    assert body_text(built.submission) == given["body"]


def test_requests_are_signed_as_the_page_says() -> None:
    key = KeyOfWallet(given["api_key"], given["secret"], given["passphrase"], signer.checksummed)
    now_ms = int(given["l2_timestamp"])
    sent = signed_headers(key, method="POST", path="/order", body=given["body"], now_ms=now_ms)
    assert sent["SERVICE_SIGNATURE"] == given["l2_signature"]
    read = signed_headers(key, method="GET", path="/data/orders", body="", now_ms=now_ms)
    assert read["SERVICE_SIGNATURE"] == given["l2_get_signature"]
    # The lines of the page that curl sends.
    assert all(f": {value}'" in page for value in sent.values())


def test_an_order_of_a_deposit_wallet_is_signed_as_the_page_says() -> None:
    intent = OrderIntent(
        token_id=given["token_id"],
        side="BUY",
        price="0.52",
        size="10",
        maker=given["wallet"],
        signature_type=3,
    )
    context = SigningContext(signer, page_domain, False, given["api_key"], int(given["timestamp"]))
    built = build_order(intent, context, salt=int(given["salt"]))
    assert built.order_id == given["wallet_order_id"]
    assert built.submission["order"]["signature"] == given["wallet_signature"]
    assert built.submission["order"]["signer"] == given["wallet"]


def twin_message(order: OrderStruct, domain: SigningDomain, neg_risk: bool) -> dict[str, Any]:
    contract = domain.neg_risk_exchange if neg_risk else domain.exchange
    return {
        "domain": {
            "name": domain.name,
            "version": domain.version,
            "chainId": domain.chain_id,
            "verifyingContract": contract,
        },
        "message": {
            "salt": order.salt,
            "maker": order.maker,
            "signer": order.signer,
            "tokenId": order.token_id,
            "makerAmount": order.maker_amount,
            "takerAmount": order.taker_amount,
            "side": 0 if order.side == "BUY" else 1,
            "signatureType": order.signature_type,
            "timestamp": order.timestamp_ms,
            "metadata": order.metadata,
            "builder": order.builder,
        },
    }


def twin_digest(types: dict[str, Any], domain: dict[str, Any], message: dict[str, Any]) -> bytes:
    signable = encode_typed_data(domain, types, message)
    return bytes(keccak(b"\x19" + signable.version + signable.header + signable.body))


@pytest.mark.parametrize("seed", range(60))
def test_digests_and_signatures_equal_those_of_eth_account(seed: int) -> None:
    draw = random.Random(seed)
    domain = SigningDomain(
        draw.choice(("Prediction Exchange", "CTF Exchange")),
        "2",
        draw.choice((1, 137, 31_337)),
        "0x" + draw.randbytes(20).hex(),
        "0x" + draw.randbytes(20).hex(),
    )
    neg_risk = draw.random() < 0.5
    order = OrderStruct(
        salt=draw.getrandbits(48),
        maker="0x" + draw.randbytes(20).hex(),
        signer="0x" + draw.randbytes(20).hex(),
        token_id=draw.getrandbits(256),
        maker_amount=draw.getrandbits(53),
        taker_amount=draw.getrandbits(53),
        side=draw.choice(get_args(Side)),
        signature_type=draw.choice(get_args(SignatureType)),
        timestamp_ms=draw.getrandbits(42),
        metadata="0x" + draw.randbytes(32).hex(),
        builder="0x" + draw.randbytes(32).hex(),
    )
    separator = domain_separator(domain, neg_risk)
    twin = twin_message(order, domain, neg_risk)
    digest = order_digest(order, separator)
    assert digest == twin_digest({"Order": order_fields}, twin["domain"], twin["message"])
    wrapper = "contents:Order name:string version:string chainId:uint256 verifyingContract:address salt:bytes32"
    pairs = [one.split(":") for one in wrapper.split(" ")]
    types = {
        "TypedDataSign": [{"name": name, "type": kind} for name, kind in pairs],
        "Order": order_fields,
    }
    wrapped = {
        "contents": twin["message"],
        "name": "DepositWallet",
        "version": "1",
        "chainId": domain.chain_id,
        "verifyingContract": order.maker,
        "salt": bytes(32),
    }
    expected = twin_digest(types, twin["domain"], wrapped)
    assert wrapped_digest(order, separator, domain.chain_id) == expected
    key = "0x" + draw.randbytes(32).hex()
    signature = wallet_from_private_key(key).sign(digest)
    assert Account._recover_hash(digest, signature=signature) == Account.from_key(key).address
    wrapped_signature = wrap_signature(signature, order, separator)
    assert len(wrapped_signature) == 2 + 2 * 317
    assert order_struct_hash(order).hex() in wrapped_signature


@pytest.mark.skipif(
    not published_file.exists(), reason="no published vectors beside the repository"
)
def test_published_vectors_hash_and_sign_as_published() -> None:
    published = json.loads(published_file.read_text("utf-8"))
    wallet = wallet_from_private_key(published["public_test_key"])
    count = 0
    for vector in [*published["orders"], *published["erc1271_orders"]]:
        if vector.get("struct", "order_v2") != "order_v2":
            continue
        count += 1
        fields, domain = vector["order"], vector["domain"]
        order = OrderStruct(
            salt=int(fields["salt"]),
            maker=fields["maker"].lower(),
            signer=fields["signer"].lower(),
            token_id=int(fields["tokenId"]),
            maker_amount=int(fields["makerAmount"]),
            taker_amount=int(fields["takerAmount"]),
            side="BUY" if fields["side"] == 0 else "SELL",
            signature_type=fields["signatureType"],
            timestamp_ms=int(fields["timestamp"]),
            metadata=fields["metadata"],
            builder=fields["builder"],
        )
        contract = domain["verifyingContract"].lower()
        place = SigningDomain(
            domain["name"], domain["version"], domain["chainId"], contract, contract
        )
        separator = domain_separator(place, False)
        digest = order_digest(order, separator)
        assert "0x" + digest.hex() == vector["order_hash"]
        if "signed_digest" not in vector:
            assert wallet.sign(digest) == vector["signature"]
            continue
        wrapped = wrapped_digest(order, separator, place.chain_id)
        assert "0x" + wrapped.hex() == vector["signed_digest"]
        assert wrap_signature(wallet.sign(wrapped), order, separator) == vector["signature"]
    assert count > 0
