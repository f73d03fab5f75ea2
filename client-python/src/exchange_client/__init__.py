"""Client of the prediction exchange: see `ExchangeClient`."""

from ._model import UnexpectedAnswerError
from .amounts import DecimalLike, micro_text, parse_micro, parse_price, price_text
from .client import ExchangeClient, SignedRequest
from .connection import Attempt, AttemptResponse
from .eip712 import OrderStruct, SigningDomain, order_digest, order_struct_hash
from .errors import (
    ExchangeError,
    SigningDomainError,
    UnresolvedActionError,
    UnresolvedOrdersError,
)
from .heartbeat import Heartbeat
from .http import HttpRequest, KeyOfWallet, Reader, signed_headers
from .order import (
    BuiltOrder,
    OrderIntent,
    OrderSubmission,
    SigningContext,
    UnsignedSubmission,
    build_order,
)
from .retry import RetryPolicy, no_retries
from .sent_order import Placement
from .streams.book import Book, BookUpdate, Level
from .streams.errors import StreamError, StreamGapError
from .streams.frames import LogPosition
from .streams.freshness import FreshnessEvent
from .wallet import PrivateKeyWallet, Signer, wallet_from_private_key

__all__ = [
    "Attempt",
    "AttemptResponse",
    "Book",
    "BookUpdate",
    "BuiltOrder",
    "DecimalLike",
    "ExchangeClient",
    "ExchangeError",
    "FreshnessEvent",
    "Heartbeat",
    "HttpRequest",
    "KeyOfWallet",
    "Level",
    "LogPosition",
    "OrderIntent",
    "OrderStruct",
    "OrderSubmission",
    "Placement",
    "PrivateKeyWallet",
    "Reader",
    "RetryPolicy",
    "SignedRequest",
    "Signer",
    "SigningContext",
    "SigningDomain",
    "SigningDomainError",
    "StreamError",
    "StreamGapError",
    "UnexpectedAnswerError",
    "UnresolvedActionError",
    "UnresolvedOrdersError",
    "UnsignedSubmission",
    "build_order",
    "micro_text",
    "no_retries",
    "order_digest",
    "order_struct_hash",
    "parse_micro",
    "parse_price",
    "price_text",
    "signed_headers",
    "wallet_from_private_key",
]
