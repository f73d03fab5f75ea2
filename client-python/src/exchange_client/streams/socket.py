"""One WebSocket with the subscriptions on it: connects, subscribes, resumes."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TypeAlias

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from .errors import StreamError
from .frames import (
    Json,
    data_types,
    frame_text,
    heartbeat_key,
    int_of,
    key_of,
    parse_frame,
    rows_of,
    text_of,
)
from .freshness import FreshnessWatch, OnFreshness
from .subscription import OutOfOrderError, Subscription

#: Headers of the API key over a path at a time, Unix milliseconds.
Proof: TypeAlias = Callable[[str, int], dict[str, str]]

_frame_bytes_max = 64 * 2**20
"""A snapshot is one frame."""
_first_pause_ms = 100
_longest_pause_ms = 5_000
_policy_close = 1008
_frame_seconds = 1 / 18
_burst_frames = 30


@dataclass(frozen=True, slots=True)
class SocketOptions:
    url: str
    stall_timeout_ms: int = 4_000
    """The service sends a heartbeat each second; after so long a silence the connection is dead."""
    connect_timeout_ms: int = 30_000
    """A service that was never reached for so long is an error; later it is waited for without an end."""
    cancel_on_disconnect: bool = False
    """The exchange sends heartbeats of the key while the connection is open (sessions.md)."""

    stale_after_ms: int = 1_500
    """A key is stale when no heartbeat has confirmed it for this time."""
    on_freshness: OnFreshness | None = None


class _Reconnect(Exception):
    """The connection has to be made again."""


class _Pace:
    """The service accepts 20 frames in a second, after a burst of twice as many."""

    def __init__(self) -> None:
        self._free_at = 0.0

    async def wait(self) -> None:
        now = time.monotonic()
        self._free_at = max(self._free_at, now - _burst_frames * _frame_seconds) + _frame_seconds
        if self._free_at > now:
            await asyncio.sleep(self._free_at - now)


class StreamSocket:
    """Runs while it has subscriptions."""

    def __init__(self, options: SocketOptions, proof: Proof) -> None:
        self._options = options
        self._proof = proof
        self._subscriptions: list[Subscription] = []
        self._socket: ClientConnection | None = None
        self._task: asyncio.Task[None] | None = None
        self._next_id = 1
        self._asked: dict[int, Subscription] = {}
        self._expected: dict[tuple[str, str], int] = {}
        self._epochs: dict[int, str] = {}
        self._outgoing: set[asyncio.Task[None]] = set()
        self._is_authenticated = False
        self._stream_id = ""
        self._clock_ms = 0.0
        """The time of the service minus the monotonic time here."""
        self._freshness = FreshnessWatch(options.stale_after_ms, options.on_freshness)
        self._is_known = False
        self._has_served = False
        self._pace = _Pace()
        self.lag_ms: int | None = None
        """How far the service is behind the log, by its last heartbeat."""
        self.standing_still: frozenset[int] | None = None
        """Partitions that are not live by the newest heartbeat of the connection; None without one."""

    @property
    def is_used(self) -> bool:
        return bool(self._subscriptions)

    def carries(self, channel: str, keys: tuple[str, ...]) -> bool:
        """Whether a subscription of a channel shares a key with these: frames could not be told apart."""
        return any(
            one.channel == channel and (not keys or not one.keys or set(keys) & set(one.keys))
            for one in self._subscriptions
        )

    def attach(self, subscription: Subscription) -> None:
        if subscription not in self._subscriptions:
            self._subscriptions.append(subscription)
        subscription.carrier = self
        subscription.is_attached = True
        subscription.check_epochs(self._epochs)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        elif self._socket is not None:
            self._send_soon(self._subscribe(self._socket, subscription))

    def detach(self, subscription: Subscription) -> None:
        subscription.is_attached = False
        subscription.set_down()
        if self._socket is not None:
            self._send_soon(self._unsubscribe(self._socket, subscription))

    async def remove(self, subscription: Subscription) -> None:
        """The subscription has no reader any more; the last one closes the connection."""
        if subscription in self._subscriptions:
            if subscription.is_attached:
                self.detach(subscription)
            self._subscriptions.remove(subscription)
            self._freshness.end(subscription.names)
        if not self._subscriptions:
            await self.aclose()

    async def aclose(self) -> None:
        self._fail_all(StreamError("closed", "the client was closed"))
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()
            await asyncio.wait([task])

    async def _run(self) -> None:
        started_at = time.monotonic()
        pauses = 0
        while self._subscriptions:
            try:
                await self._connect_once()
            except StreamError as error:
                self._fail_all(error)
                return
            except (OSError, ConnectionClosed, InvalidHandshake, TimeoutError, _Reconnect) as error:
                waited_ms = (time.monotonic() - started_at) * 1000
                if not self._is_known and waited_ms > self._options.connect_timeout_ms:
                    self._fail_all(StreamError("unreachable", str(error)))
                    return
            if self._has_served:
                pauses = 0
                self._has_served = False
            most = min(_longest_pause_ms, _first_pause_ms * 2 ** min(pauses, 20))
            pauses += 1
            await asyncio.sleep((most // 2 + secrets.randbelow(most // 2 + 1)) / 1000)

    async def _connect_once(self) -> None:
        try:
            async with connect(
                self._options.url,
                ping_interval=None,
                compression=None,
                max_size=_frame_bytes_max,
                open_timeout=self._options.stall_timeout_ms / 1000,
                close_timeout=1,
            ) as socket:
                await self._serve(socket)
        except InvalidStatus as error:
            status = error.response.status_code
            if 400 <= status < 500 and status not in (408, 425, 429):
                raise StreamError("refused", f"HTTP {status}") from error
            raise
        finally:
            self._socket = None
            self.lag_ms = None
            self.standing_still = None
            self._is_authenticated = False
            self._asked.clear()
            self._expected.clear()

    async def _serve(self, socket: ClientConnection) -> None:
        welcome = await self._receive(socket)
        if text_of(welcome, "type") != "welcome":
            # Too many connections: the service says so instead.
            raise _Reconnect(text_of(welcome, "reason") or "the first frame is no welcome")
        self._is_known = True
        self._stream_id = text_of(welcome, "stream_id")
        self._clock_ms = int_of(welcome, "time") - time.monotonic() * 1000
        self._epochs |= {
            int_of(row, "partition"): text_of(row, "epoch")
            for row in rows_of(welcome, "partitions")
            # None before the first record of the partition.
            if row.get("epoch") is not None
        }
        for subscription in self._subscriptions:
            subscription.check_epochs(self._epochs)
        self._socket = socket
        for subscription in list(self._subscriptions):
            subscription.set_down()
            if subscription.is_attached:
                await self._subscribe(socket, subscription)
        try:
            while True:
                self._take(await self._receive(socket))
        except OutOfOrderError as error:
            raise _Reconnect(str(error)) from error
        except ConnectionClosed as error:
            closed = error.rcvd
            is_used = any(one.is_attached for one in self._subscriptions)
            if closed is not None and closed.code == _policy_close and is_used:
                raise StreamError("policy", closed.reason) from error
            raise

    async def _receive(self, socket: ClientConnection) -> Json:
        """The next frame. Raises `TimeoutError` when the connection is silent."""
        # Not `wait_for`, which loses a cancellation on Python 3.11.
        async with asyncio.timeout(self._options.stall_timeout_ms / 1000):
            text = await socket.recv()
        try:
            return parse_frame(text)
        except ValueError as error:
            raise _Reconnect(f"not a frame: {error}") from error

    async def _subscribe(self, socket: ClientConnection, subscription: Subscription) -> None:
        if subscription.channel == "own" and not self._is_authenticated:
            self._is_authenticated = True
            frame: Json = {
                "op": "auth",
                # A proof is refused without a word on clocks, so it has the time of who judges it.
                "headers": self._proof(
                    self._proof_path(), round(self._clock_ms + time.monotonic() * 1000)
                ),
                "cancel_on_disconnect": self._options.cancel_on_disconnect,
            }
            await self._ask(socket, frame, subscription)
        for one in subscription.subscribe_frames():
            await self._ask(socket, one, subscription)

    def _proof_path(self) -> str:
        """It covers this connection and the option, so that a proof is worth nothing elsewhere."""
        option = "true" if self._options.cancel_on_disconnect else "false"
        return f"/v1/stream?stream_id={self._stream_id}&cancel_on_disconnect={option}"

    async def _unsubscribe(self, socket: ClientConnection, subscription: Subscription) -> None:
        for one in subscription.unsubscribe_frames():
            await self._send(socket, {**one, "id": self._new_id()})

    async def _ask(self, socket: ClientConnection, frame: Json, subscription: Subscription) -> None:
        request_id = self._new_id()
        self._asked[request_id] = subscription
        await self._send(socket, {**frame, "id": request_id})

    async def _send(self, socket: ClientConnection, frame: Json) -> None:
        await self._pace.wait()
        await socket.send(frame_text(frame))

    def _send_soon(self, sending: Coroutine[None, None, None]) -> None:
        """Sends without waiting; a connection that ended meanwhile is made again anyway."""

        async def run() -> None:
            try:
                await sending
            except ConnectionClosed:
                return

        task = asyncio.create_task(run())
        self._outgoing.add(task)
        task.add_done_callback(self._outgoing.discard)

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id

    def _take(self, frame: Json) -> None:
        kind = text_of(frame, "type")
        if kind in data_types:
            for subscription in list(self._subscriptions):
                if subscription.is_attached and subscription.channel == frame.get("channel"):
                    subscription.offer(frame)
                    name = (subscription.channel, key_of(frame) if subscription.keys else None)
                    if subscription.has_begun(name[1]):
                        self._freshness.begin(name)
        elif kind == "heartbeat":
            self._take_heartbeat(frame)
        elif kind == "error":
            self._take_error(frame)
        elif kind == "subscribed":
            subscribed = self._asked.pop(int_of(frame, "id"), None)
            if subscribed is not None and subscribed.is_attached:
                subscribed.take_subscribed(frame)
                # What an earlier subscription to these keys was sent says nothing of this one.
                for row in rows_of(frame, "keys"):
                    self._expected.pop(
                        (subscribed.channel, heartbeat_key(subscribed.channel, row)), None
                    )
        elif kind == "authenticated":
            self._asked.pop(int_of(frame, "id"), None)

    def _take_heartbeat(self, frame: Json) -> None:
        """A message of the heartbeat before that has not come by now is missing."""
        self._has_served = True
        self.lag_ms = int_of(frame, "lag_ms")
        self.standing_still = frozenset(
            int_of(row, "partition") for row in rows_of(frame, "partitions") if not row["live"]
        )
        expected, self._expected = self._expected, {}
        waiting = self._take_rows(rows_of(frame, "subscriptions"))
        for subscription in self._subscriptions:
            if not subscription.is_attached:
                continue
            channel, newest = subscription.channel, subscription.newest()
            for key, seq in newest.items():
                if seq < expected.get((channel, key), 0):
                    raise _Reconnect(f"{channel} {key} does not come")
            whole = {
                key
                for key, seq in newest.items()
                if (channel, key) not in waiting
                and seq >= self._expected.get((channel, key), math.inf)
            }
            self._confirm(subscription, whole, self.standing_still)

    def _take_rows(self, rows: list[Json]) -> set[tuple[str, str]]:
        """Expects the newest message of each; the names of which messages are still to come."""
        waiting: set[tuple[str, str]] = set()
        for row in rows:
            channel = text_of(row, "channel")
            name = (channel, heartbeat_key(channel, row))
            self._expected[name] = int_of(row, "seq")
            if row.get("waiting") is True:
                waiting.add(name)
        return waiting

    def _confirm(self, subscription: Subscription, whole: set[str], still: frozenset[int]) -> None:
        """`whole`: the keys of which all that was sent has come, as heartbeats name them."""
        newest = set(subscription.newest())
        for name in subscription.names:
            _, key = name
            is_whole = bool(newest) and whole == newest if key is None else key in whole
            if is_whole:
                of_it = still & subscription.partitions(key) if still else still
                self._freshness.confirm(name, of_it)

    def _take_error(self, frame: Json) -> None:
        request_id = frame.get("id")
        if request_id is None or frame.get("retryable") is True:
            raise _Reconnect(text_of(frame, "message"))
        subscription = self._asked.pop(int_of(frame, "id"), None)
        if subscription is not None:
            subscription.fail(StreamError(text_of(frame, "code"), text_of(frame, "message")))
            subscription.is_attached = False
            self._freshness.end(subscription.names)
            if subscription in self._subscriptions:
                self._subscriptions.remove(subscription)

    def _fail_all(self, error: StreamError) -> None:
        for subscription in self._subscriptions:
            subscription.fail(error)
            self._freshness.end(subscription.names)
        self._subscriptions.clear()
