"""The time that orders have to reach their books, over all attempts."""

from __future__ import annotations

import time

from .connection import Connection


class BookTime:
    """An attempt that arrives has what is left of it.

    One that is long on its way is bounded by the latest time at which it can be over at the
    exchange, which all attempts name: it holds however late an attempt arrives, and refuses none too
    early where the clocks differ. All attempts name the time of the first one, too: a cancel that
    comes meanwhile, also from another process, covers them.
    """

    def __init__(self, connection: Connection, time_to_book_ms: int) -> None:
        self._connection = connection
        self._time_to_book_ms = time_to_book_ms
        self._made_at: float | None = None
        self._server_ms: int | None = None
        """The time at the exchange when the first attempt was made, if it is known."""

    def headers(self) -> dict[str, str]:
        """Of an attempt that is made now; the time begins with the first one."""
        made_at = time.monotonic()
        if self._made_at is None:
            self._made_at = made_at
            self._server_ms = self._connection.latest_server_ms()
        # What is over is refused, or gets the result of an earlier attempt.
        left_ms = max(1, self._time_to_book_ms - int((made_at - self._made_at) * 1000))
        headers = {"SERVICE_TIME_TO_BOOK_MS": str(left_ms)}
        if self._server_ms is not None:
            headers["SERVICE_VALID_UNTIL_MS"] = str(self._server_ms + self._time_to_book_ms)
            headers["SERVICE_FIRST_SENT_MS"] = str(self._server_ms)
        return headers
