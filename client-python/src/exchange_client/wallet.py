"""Signers of 32-byte digests."""

from __future__ import annotations

import re
from typing import Protocol

from eth_account import Account
from eth_account.signers.local import LocalAccount
from eth_typing import Hash32


class Signer(Protocol):
    """Signs for an address: a key in memory, a hardware wallet, a remote signer."""

    @property
    def address(self) -> str:
        """Lower case."""

    @property
    def checksummed(self) -> str:
        """EIP-55 form, as headers carry it."""

    def sign(self, digest: bytes) -> str:
        """r | s | v with low s and v of 27 or 28, as 0x-text of 65 bytes."""


class PrivateKeyWallet:
    """A signer whose key is in this process. Its text form does not show the key."""

    def __init__(self, account: LocalAccount) -> None:
        self._account = account

    @property
    def address(self) -> str:
        return str(self._account.address).lower()

    @property
    def checksummed(self) -> str:
        return str(self._account.address)

    def sign(self, digest: bytes) -> str:
        signature = bytes(self._account.unsafe_sign_hash(Hash32(digest)).signature)
        return "0x" + signature.hex()

    def __repr__(self) -> str:
        return f"PrivateKeyWallet({self.checksummed})"


def wallet_from_private_key(private_key: str) -> PrivateKeyWallet:
    """A signer from 0x and 64 hex digits. Raises `ValueError` on any other text."""
    if re.fullmatch(r"0x[0-9a-fA-F]{64}", private_key) is None:
        raise ValueError("not a private key")
    return PrivateKeyWallet(Account.from_key(private_key))
