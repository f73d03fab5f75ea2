"""How far the clock of the exchange is ahead of the one here."""

from __future__ import annotations

import math
from email.utils import parsedate_to_datetime


class ServerClock:
    """By the `Date` of responses.

    Each says the second in which a moment between its request and its arrival was, so a few of them
    say the difference to some milliseconds.
    """

    def __init__(self) -> None:
        # Bounds of the time there minus the monotonic time here, seconds.
        self._least = -math.inf
        self._most = math.inf

    def note(self, date: str | None, *, sent_at: float, received_at: float) -> None:
        """A response with this `Date`, of a request that was sent and answered then."""
        try:
            second = parsedate_to_datetime(date or "").timestamp()
        except ValueError:
            return
        least, most = second - received_at, second + 1 - sent_at
        is_known = least <= self._most and most >= self._least
        # A clock that was set says nothing of before.
        self._least = max(self._least, least) if is_known else least
        self._most = min(self._most, most) if is_known else most

    def nearest_ms(self, now_ms: int, monotonic: float) -> int:
        """The time that it may be there at a moment and that is nearest to `now_ms`, Unix milliseconds.

        `now_ms` itself as long as no response contradicts it.
        """
        if math.isinf(self._most):
            return now_ms
        least_ms = math.ceil((monotonic + self._least) * 1000)
        most_ms = math.floor((monotonic + self._most) * 1000)
        return min(max(now_ms, least_ms), most_ms)

    def latest_ms(self, monotonic: float) -> int | None:
        """The latest that it may be there at a moment, Unix milliseconds; None before any response."""
        return None if math.isinf(self._most) else math.ceil((monotonic + self._most) * 1000)
