"""A log of orders behind a network that loses, delays, refuses and repeats; by the clock of its loop."""

from __future__ import annotations

import asyncio
import json
import random
from typing import TypeAlias, cast

import httpx

from exchange_client.refusals import refusals

from .fake_exchange import (
    Answer,
    Json,
    action_result,
    id_of,
    published,
    refused_result,
    stored_order,
    test_domain,
)

_faults = ("request lost", "request late", "response lost", "no response", "garbled", "page")
#: A refusal does not look at the log: whoever refuses knows nothing of earlier attempts.
#: Only the log says that it has no order.
_open_codes = tuple(
    code for code, refusal in refusals.items() if not refusal.final and code != "order_not_found"
)
#: Refusals of orders for good, by rules that have changed since earlier attempts.
_rules_codes = ("invalid_size", "invalid_tick_size", "invalid_expiration", "market_resolved")
_order_paths = ("/order", "/orders")
page = "<html>of a proxy</html>"
_late_max_seconds = 3.0
_latency_max_seconds = 0.04

Sent: TypeAlias = tuple[str, str, object]


class ModelExchange(httpx.AsyncBaseTransport):
    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.log: dict[str, str] = {}
        """Order id to `booked`, or to its refusal: for ever."""
        self._ruled_out: dict[str, str] = {}
        """Orders that the rules refused: those that come later are refused, too."""
        self.posted: list[tuple[float, list[str]]] = []
        """Requests that place orders, whatever became of them, by the time at which they left."""
        self.booked_since_cancel: set[str] = set()
        self.actions: dict[str, str] = {}
        """Account action id to `done`, or to its refusal: for ever."""
        self.fault_percent = 50

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        text = request.content.decode()
        body: object = json.loads(text) if text else None
        sent = (request.method, request.url.path, body)
        if request.method == "POST" and request.url.path in _order_paths:
            ids = [id_of(one) for one in _submissions(body)]
            self.posted.append((asyncio.get_running_loop().time(), ids))
        await asyncio.sleep(self._draw.uniform(0.001, _latency_max_seconds))
        answer = await self._answer(sent)
        if isinstance(answer.body, str):
            return httpx.Response(answer.status, text=answer.body)
        return httpx.Response(answer.status, json=answer.body)

    async def _answer(self, sent: Sent) -> Answer:
        if sent[0] == "DELETE" and sent[1] == "/orders":
            return self._cancel(cast("list[str]", sent[2]))
        fate = self._fate_of(sent[1])
        if fate == "request lost":
            raise httpx.ReadError("reset")
        if fate == "request late":
            delay = self._draw.uniform(0, _late_max_seconds)
            asyncio.get_running_loop().call_later(delay, self._serve, sent)
            raise httpx.ReadError("reset")
        if fate in _rules_codes:
            self._rule_out(fate, sent)
        if fate in refusals:
            return _refusal(fate, sent)
        if fate == "page":
            return Answer(200, page)
        answer = self._serve(sent)
        if fate == "response lost":
            raise httpx.ReadError("reset")
        if fate == "no response":
            await asyncio.sleep(1_000)
        return Answer(200, {"page": "of a proxy"}) if fate == "garbled" else answer

    def _fate_of(self, path: str) -> str:
        is_fated = path.startswith(("/order", "/account", "/data"))
        if not is_fated or self._draw.randrange(100) >= self.fault_percent:
            return "served"
        kinds = [_faults, _faults, _open_codes]
        if path in _order_paths:
            kinds.append(_rules_codes)
        return self._draw.choice(self._draw.choice(kinds))

    def _rule_out(self, code: str, sent: Sent) -> None:
        _method, _path, body = sent
        self._ruled_out.update((id_of(one), code) for one in _submissions(body))

    def _serve(self, sent: Sent) -> Answer:
        _method, path, body = sent
        if path == "/signing-domain":
            return Answer(200, published(test_domain))
        if path == "/neg-risk":
            return Answer(200, {"neg_risk": False})
        if path == "/order":
            return self._place(cast("Json", body))
        if path == "/orders":
            return Answer(200, [self._place(one).body for one in _submissions(body)])
        if path == "/cancel-all":
            self.booked_since_cancel.clear()
            return Answer(200, {"canceled": [], "not_canceled": {}})
        if path.startswith("/data/order/"):
            return self._find(path.removeprefix("/data/order/"))
        return self._act(cast("dict[str, str]", body)["id"])

    def _act(self, action_id: str) -> Answer:
        fate = self.actions.setdefault(action_id, _fate_of_action(action_id))
        if fate != "done":
            return Answer(refusals[fate].status, {"error": fate, "code": fate})
        return Answer(200, action_result(action_id))

    def _place(self, submission: Json) -> Answer:
        order_id = id_of(submission)
        known = self.log.get(order_id)
        ruled_out = self._ruled_out.get(order_id)
        if known is None and ruled_out is not None:
            return Answer(refusals[ruled_out].status, refused_result(ruled_out))
        fate = known or _fate_of_order(order_id)
        self.log[order_id] = fate
        if fate != "booked":
            return Answer(refusals[fate].status, refused_result(fate))
        if known is None:
            self.booked_since_cancel.add(order_id)
        placed = {"success": True, "errorMsg": "", "orderID": order_id, "orderHash": order_id}
        return Answer(200, {**refused_result(""), "code": None, **placed, "status": "live"})

    def _cancel(self, order_ids: list[str]) -> Answer:
        """Orders that have not come yet are refused when they do."""
        canceled = [one for one in order_ids if self.log.setdefault(one, "fenced") == "booked"]
        self.booked_since_cancel.difference_update(canceled)
        return Answer(200, {"canceled": canceled, "not_canceled": {}})

    def _find(self, order_id: str) -> Answer:
        known = self.log.get(order_id)
        if known == "booked":
            return Answer(200, stored_order(order_id))
        code = known or "order_not_found"
        return Answer(404, {"error": code, "code": code})


def _submissions(body: object) -> list[Json]:
    return cast("list[Json]", body if isinstance(body, list) else [body])


def _fate_of_order(order_id: str) -> str:
    """By its id: one in four is refused for good, one in eight because the exchange was slow."""
    part = int(order_id[-1], 16)
    if part < 4:
        return "fok_not_filled"
    return "too_late" if part < 6 else "booked"


def _fate_of_action(action_id: str) -> str:
    """By its id: one in four is refused for good."""
    return "market_resolved" if int(action_id[-1], 16) < 4 else "done"


def _refusal(code: str, sent: Sent) -> Answer:
    _method, path, body = sent
    status = refusals[code].status
    if path == "/orders" and status != 401:
        return Answer(200, [refused_result(code) for _ in _submissions(body)])
    is_of_orders = path == "/order" and status not in (401, 403)
    return Answer(
        status, {**(refused_result(code) if is_of_orders else {}), "error": code, "code": code}
    )
