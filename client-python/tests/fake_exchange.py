"""The behaviour of an exchange towards a client: an order sent twice is one order with one result."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from types import TracebackType
from typing import Literal, Self, TypeAlias, cast
from urllib.parse import parse_qsl, urlsplit

from exchange_client.eip712 import OrderStruct, SigningDomain, domain_separator, order_digest

Json: TypeAlias = dict[str, object]

test_domain = SigningDomain("Prediction Exchange", "2", 137, "0x" + "e5a1" * 10, "0x" + "e5a2" * 10)


@dataclass(frozen=True)
class Answer:
    """A response instead of the one that the fake would give."""

    status: int
    body: object
    retry_after: int | None = None


#: Fate of a request: it is served, its connection dies before or after that, or it gets a response.
Fate: TypeAlias = Literal["serve", "lose the request", "lose the response"] | Answer


@dataclass(frozen=True)
class Heard:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: object
    text: str


def _nothing(_heard: Heard) -> Answer:
    return Answer(404, {"error": "not found"})


class FakeExchange:
    def __init__(self) -> None:
        self.received: list[Heard] = []
        self.booked: dict[str, Json] = {}
        """Order id to its submission."""
        self.refused: dict[str, str] = {}
        """Order id to the refusal that the log remembers."""
        self.fates: list[Fate] = []
        """Fates of the requests to come, reads of `/neg-risk`, the domain and keys not counted."""
        self.fated_method: str | None = None
        """Requests of this method only have fates; None for all."""
        self.stored: Json = {}
        """Of orders that are read."""
        self.refuses: Callable[[str], bool] = lambda _order_id: False
        self.answer: Callable[[Heard], Answer] = _nothing
        """Responses of routes that the fake does not implement."""
        self.key_answers: list[Answer] = []
        """Responses to the next requests for a key, in front of the key."""
        self.key_proofs: list[str] = []
        """Signatures of the requests for a key."""
        self.domain = test_domain
        """What it publishes as the domain of signatures."""
        self.hangs: Callable[[Heard], bool] = lambda _heard: False
        """Requests that get no response; those of plain paths do."""
        self.ahead_ms: int | None = None
        """Its clock minus that of the client: it refuses proofs of another time. None: it looks at no timestamps."""
        self.delay_ms = 0
        self.running = 0
        self.most_running = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def base_url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def received_at(self, path: str) -> list[Heard]:
        return [one for one in self.received if one.path == path]

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve_connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while await self._serve_request(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _serve_request(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        heard = await _read(reader)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        is_plain = heard.path in ("/neg-risk", "/signing-domain", "/auth/api-key")
        is_fated = self.fated_method in (None, heard.method) and not is_plain and self.fates
        skew = self._skew(heard)
        fate = skew or (self.fates.pop(0) if is_fated else "serve")
        if not is_plain:
            self.received.append(heard)
        if not is_plain and self.hangs(heard):
            await asyncio.Event().wait()
        await asyncio.sleep(self.delay_ms / 1000)
        self.running -= 1
        if fate == "lose the request":
            return False
        answer = fate if isinstance(fate, Answer) else self._serve(heard)
        if fate == "lose the response":
            return False
        body = json.dumps(answer.body).encode()
        head = [f"HTTP/1.1 {answer.status} X", "content-type: application/json"]
        head.append(f"content-length: {len(body)}")
        head.append(f"date: {formatdate(time.time() + (self.ahead_ms or 0) / 1000, usegmt=True)}")
        if answer.retry_after is not None:
            head.append(f"retry-after: {answer.retry_after}")
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        await writer.drain()
        return True

    def _skew(self, heard: Heard) -> Answer | None:
        """The refusal of a timestamp in milliseconds that differs by more than 30 s, or of one in seconds by 300."""
        text = heard.headers.get("service_timestamp")
        if self.ahead_ms is None or text is None:
            return None
        unit_ms, most_ms = (1, 30_000) if len(text) > 10 else (1_000, 300_000)
        server_ms = time.time_ns() // 1_000_000 + self.ahead_ms
        if abs(int(text) * unit_ms - server_ms) <= most_ms:
            return None
        error = "TIMESTAMP_SKEW"
        return Answer(401, {"error": error, "code": "timestamp_skew", "server_time": server_ms})

    def _serve(self, heard: Heard) -> Answer:
        route = (heard.method, heard.path)
        if heard.path == "/signing-domain":
            return Answer(200, published(self.domain))
        if heard.path == "/neg-risk":
            return Answer(200, {"neg_risk": False})
        if route == ("POST", "/auth/api-key"):
            self.key_proofs.append(heard.headers["service_signature"])
            return self.key_answers.pop(0) if self.key_answers else Answer(200, test_key)
        if route == ("POST", "/order"):
            return self._place(cast("Json", heard.body))
        if route == ("POST", "/orders"):
            return Answer(200, [self._place(one).body for one in cast("list[Json]", heard.body)])
        if heard.path.startswith("/data/order/"):
            return self._find(heard.path.removeprefix("/data/order/"))
        return self.answer(heard)

    def _place(self, submission: Json) -> Answer:
        order_id = id_of(submission)
        if self.refuses(order_id):
            self.refused[order_id] = "fok_not_filled"
            return Answer(400, refused_result("fok_not_filled"))
        self.booked[order_id] = submission
        return Answer(200, placed_result(order_id))

    def _find(self, order_id: str) -> Answer:
        code = self.refused.get(order_id)
        if code is not None:
            return Answer(404, {"error": "order not found", "code": code})
        if order_id not in self.booked:
            return Answer(404, {"error": "order not found"})
        return Answer(200, {**stored_order(order_id), **self.stored})


test_key = {"apiKey": "key", "secret": "A" * 43 + "=", "passphrase": "p"}


def placed_result(order_id: str, status: str = "live") -> Json:
    return {
        "success": True,
        "errorMsg": "",
        "orderID": order_id,
        "orderHash": order_id,
        "status": status,
        "makingAmount": "0",
        "takingAmount": "0",
    }


def refused_result(code: str) -> Json:
    return {
        "success": False,
        "errorMsg": code,
        "code": code,
        "orderID": "",
        "orderHash": "",
        "status": "",
        "makingAmount": "",
        "takingAmount": "",
    }


def action_result(action_id: str) -> Json:
    """The response to an account action that is carried out."""
    of = {"success": True, "action": "split", "id": action_id, "request_id": action_id}
    return {**of, "wallet": "0x", "condition_id": "0x1", "amount": "5.5"}


def stored_order(order_id: str) -> Json:
    flat: Json = {
        "id": order_id,
        "status": "LIVE",
        "owner": None,
        "market": "0x1",
        "side": "BUY",
        "price": "0.5",
        "outcome": "Yes",
        "expiration": "0",
        "order_type": "GTC",
        "reason": None,
        "code": None,
        "ended_at": None,
    }
    time = "2026-06-01T12:00:00.000Z"
    return {
        **flat,
        "maker_address": "0x2",
        "asset_id": "7",
        "original_size": "10",
        "size_matched": "0",
        "associate_trades": [],
        "created_at": 1780315200,
        "order": {
            **flat,
            "associateTrades": [],
            "originalSize": "10",
            "makerAddress": "0x2",
            "sizeMatched": "0",
            "assetId": "7",
            "createdAt": time,
        },
    }


async def _read(reader: asyncio.StreamReader) -> Heard:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, target, _version = head[0].split(" ")
    pairs = [line.split(":", 1) for line in head[1:] if line]
    headers = {name.lower(): value.strip() for name, value in pairs}
    text = (await reader.readexactly(int(headers.get("content-length", "0")))).decode()
    url = urlsplit(target)
    return Heard(
        method=method,
        path=url.path,
        query=dict(parse_qsl(url.query)),
        headers=headers,
        body=json.loads(text) if text else None,
        text=text,
    )


def published(domain: SigningDomain) -> Json:
    """The response of `/signing-domain`."""
    return {
        "name": domain.name,
        "version": domain.version,
        "chainId": domain.chain_id,
        "exchange": domain.exchange,
        "negRiskExchange": domain.neg_risk_exchange,
        "familyDomains": [],
    }


def id_of(submission: Json) -> str:
    """The id that follows from what was signed."""
    order = cast("dict[str, str]", submission["order"])
    struct = OrderStruct(
        salt=int(order["salt"]),
        maker=order["maker"],
        signer=order["signer"],
        token_id=int(order["tokenId"]),
        maker_amount=int(order["makerAmount"]),
        taker_amount=int(order["takerAmount"]),
        side="BUY" if order["side"] == "BUY" else "SELL",
        signature_type=cast("Literal[0, 1, 2, 3]", order["signatureType"]),
        timestamp_ms=int(order["timestamp"]),
        metadata=order["metadata"],
        builder=order["builder"],
    )
    return "0x" + order_digest(struct, domain_separator(test_domain, False)).hex()
