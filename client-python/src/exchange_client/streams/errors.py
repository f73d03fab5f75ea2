"""Why a subscription ends."""

from __future__ import annotations


class StreamError(Exception):
    """The service refused a subscription, or could never be reached."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class StreamGapError(StreamError):
    """Messages are certainly missing: they are older than the service keeps, or the log was replaced."""

    def __init__(self, channel: str, key: str, seq: int, reason: str) -> None:
        super().__init__(
            "gap", f"messages of {channel} {key} after seq {seq} are missing: {reason}"
        )
        self.channel = channel
        self.key = key
        self.seq = seq
        """The last message before the gap."""
