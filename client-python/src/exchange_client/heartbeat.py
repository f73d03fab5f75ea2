"""The session of an API key (sessions.md)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from .callbacks import call_guarded, surface
from .connection import Connection, Sending
from .errors import ExchangeError, field_of, is_passing
from .http import HttpRequest

default_interval_ms = 5_000
_again_ms = 500
"""Pause after a failed beat."""
_beat_timeout_ms = 3_000
"""Timeout of one beat: after it another attempt is better than waiting."""


class HeartbeatStoppedError(Exception):
    """The loop was stopped before its first accepted beat."""


class Heartbeat:
    """Keeps the session of an API key alive.

    Beats, follows the chain of ids, and starts a new session after a miss. While it runs, orders of
    the key stay open; when the process dies, they are canceled, unless another process or connection
    sends heartbeats of the same key: one key for each process (sessions.md).
    """

    def __init__(
        self,
        connection: Connection,
        *,
        interval_ms: int = default_interval_ms,
        on_miss: Callable[[], None] | None = None,
        on_error: Callable[[Exception, bool], None] | None = None,
    ) -> None:
        self._connection = connection
        self._interval_ms = interval_ms
        self._on_miss = on_miss
        self._on_error = on_error
        self._id = ""
        self._beats = 0
        self._is_awaited = False
        self._stopping = asyncio.Event()
        self._started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # An error is reported by `on_error` too, so waiting for the start is optional.
        self._started.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._running = asyncio.create_task(self._run())

    async def started(self) -> None:
        """Returns with the first accepted beat; from then on silence cancels. Raises when the loop ended before."""
        self._is_awaited = True
        await asyncio.shield(self._started)

    @property
    def beats(self) -> int:
        """Accepted so far."""
        return self._beats

    async def stop(self) -> None:
        """Beats no more, and returns when no beat is under way.

        The session then ends by silence: orders that still rest are canceled 10 to 15 seconds after
        the last beat. Orders that must go at once are canceled first.
        """
        self._stopping.set()
        await self._running

    async def _run(self) -> None:
        while not self._stopping.is_set():
            started_at = time.monotonic()
            pause_ms = self._interval_ms
            try:
                await self._beat()
                self._settle(None)
            except Exception as error:
                is_over = not is_passing(error)
                self._report(error, is_over)
                if is_over:
                    self._settle(error)
                    return
                pause_ms = _again_ms
            await self._pause(pause_ms / 1000 - (time.monotonic() - started_at))
        self._settle(HeartbeatStoppedError("the heartbeat was stopped"))

    def _report(self, error: Exception, is_over: bool) -> None:
        on_error = self._on_error
        if on_error is not None:
            call_guarded(lambda: on_error(error, is_over))
        elif is_over and (self._beats > 0 or not self._is_awaited):
            # Before the first beat it is that of `started()`.
            surface(error)

    def _settle(self, error: Exception | None) -> None:
        if self._started.done():
            return
        if error is None:
            self._started.set_result(None)
        else:
            self._started.set_exception(error)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                await self._stopping.wait()
        except TimeoutError:
            return

    async def _beat(self) -> None:
        try:
            self._id = await self._send()
        except ExchangeError as error:
            expected = field_of(error.body, "heartbeat_id") if error.status == 400 else None
            if expected is None:
                raise
            # An empty id means that there is no session; if this loop had one, it was missed.
            if expected == "" and self._id != "":
                self._miss()
            self._id = expected
            self._id = await self._send()
        self._beats += 1

    def _miss(self) -> None:
        """A quote from before the miss that still waits would come after the exchange has canceled all others."""
        self._connection.placements.end(lambda _call: True)
        if self._on_miss is not None:
            call_guarded(self._on_miss)

    async def _send(self) -> str:
        body = {"heartbeat_id": self._id}
        request = HttpRequest("POST", "/v1/heartbeats", body=body)
        sending = Sending(timeout_ms=_beat_timeout_ms)
        answer = await self._connection.signed_once(request, sending)
        return field_of(answer, "heartbeat_id") or ""
