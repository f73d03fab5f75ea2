"""One subscription: what it waits for, what it has, and how its next message must follow."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Protocol

from .errors import StreamGapError
from .frames import (
    Channel,
    Json,
    all_markets_key,
    int_of,
    key_fields,
    key_of,
    position_of,
    rows_of,
    text_of,
)

#: Frames that wait for a slow iterator; then its subscription pauses until it has caught up.
queue_max_frames = 10_000

#: A service that skips the same message so often when it is asked for it does not have it.
_resumes_max = 3

#: Limit of the service for one frame.
_keys_per_frame = 500

#: A resumed key takes a frame of its own, and the service accepts twenty in a second. More keys of
#: a channel whose snapshot says everything begin with their snapshots instead.
_resumed_keys_max = 20
_whole_channels = frozenset(("book", "best", "markets"))

#: Channels with a state: a snapshot replaces what is missing, so a gap is marked and not raised.
_state_channels = _whole_channels | {"orders"}


class OutOfOrderError(Exception):
    """A message does not follow the one before: the subscription has to be resumed."""


class Carrier(Protocol):
    """The connection that a subscription runs on."""

    def attach(self, subscription: Subscription) -> None:
        """Subscribes, from the last message on where there is one."""

    def detach(self, subscription: Subscription) -> None:
        """Unsubscribes; frames on their way are dropped."""


class Subscription:
    """Frames of one channel and some keys, in order and without holes.

    `seqs` has the last message of each key (of `own`: of each partition); `after` sets it for a
    subscription that goes on where an earlier process ended. Without keys, `markets` are all and
    `own` is the caller.
    """

    def __init__(
        self,
        channel: Channel,
        keys: Sequence[str],
        *,
        after: Mapping[str, int] | None = None,
        allow_gaps: bool = False,
    ) -> None:
        self.channel = channel
        self.keys = tuple(dict.fromkeys(keys))
        self.seqs: dict[str, int] = dict(after or {})
        self.carrier: Carrier | None = None
        self.is_attached = False
        self._marks_gaps = allow_gaps or channel in _state_channels
        self._live: set[str] = set()
        self._is_all_live = False
        self._epochs: dict[int, str] = {}
        self._partitions: dict[str, int] = {}
        self._gaps_due: set[str] = set()
        self._frames: deque[Json] = deque()
        self._arrived = asyncio.Event()
        self._error: Exception | None = None
        self._resumes: dict[str, tuple[int, int]] = {}

    # Towards the connection

    def subscribe_frames(self) -> list[Json]:
        """Frames that subscribe, each key from its last message on. Ids are added by the connection."""
        base: Json = {"op": "subscribe", "channel": self.channel}
        if self.channel == "own":
            places: list[Json] = [
                {"partition": int(one), **self._place_of(one)} for one in sorted(self.seqs)
            ]
            return [{**base, "from": places} if places else base]
        if not self.keys:
            return [base]
        resumed = [key for key in self.keys if key in self.seqs]
        if self.channel in _whole_channels and len(resumed) > _resumed_keys_max:
            resumed = []
        fresh = [key for key in self.keys if key not in resumed]
        field = key_fields[self.channel]
        chunks = [fresh[at : at + _keys_per_frame] for at in range(0, len(fresh), _keys_per_frame)]
        return [
            *({**base, field: chunk} for chunk in chunks),
            *({**base, field: [key], "from": self._place_of(key)} for key in resumed),
        ]

    def _place_of(self, key: str) -> Json:
        """The last message of a key, and of which log it is."""
        partition = self._partition_of(key)
        epoch = None if partition is None else self._epochs.get(partition)
        place: Json = {"seq": self.seqs[key]}
        return place if epoch is None else {**place, "epoch": epoch}

    def _partition_of(self, key: str) -> int | None:
        return int(key) if self.channel == "own" else self._partitions.get(key)

    def unsubscribe_frames(self) -> list[Json]:
        base: Json = {"op": "unsubscribe", "channel": self.channel}
        if not self.keys:
            return [base]
        field = key_fields[self.channel]
        return [
            {**base, field: list(self.keys[at : at + _keys_per_frame])}
            for at in range(0, len(self.keys), _keys_per_frame)
        ]

    def set_down(self) -> None:
        """Nothing comes until it is subscribed again."""
        self._live.clear()
        self._is_all_live = False

    def take_subscribed(self, frame: Json) -> None:
        """From here on frames belong to the new subscription, not to one that was ended before."""
        self._live.update(text_of(row, "key") for row in rows_of(frame, "keys"))
        self._is_all_live = not self.keys

    def check_epochs(self, epochs: Mapping[int, str]) -> None:
        """Where the log of a partition was replaced, its numbers mean nothing any more."""
        if self.channel == "comments":
            # Their places are of another topic, which has no epoch.
            return
        for partition, epoch in epochs.items():
            known = self._epochs.setdefault(partition, epoch)
            if known == epoch:
                continue
            self._epochs[partition] = epoch
            # A key of which no message came yet may be of any partition.
            for key in [one for one in self.seqs if self._partition_of(one) in (None, partition)]:
                seq = self.seqs.pop(key, 0)
                if self._marks_gaps:
                    self._gaps_due.add(key)
                else:
                    self.fail(StreamGapError(self.channel, key, seq, "the log was replaced"))

    def offer(self, frame: Json) -> None:
        """Takes a data frame of the channel. Raises `OutOfOrderError` when one before it is missing."""
        key = key_of(frame)
        if self._error is not None or not self._is_live(key):
            return
        if frame["type"] == "state":
            self._push(frame)
            return
        seq, last = int_of(frame, "seq"), self.seqs.get(key)
        if frame["type"] == "checksum":
            if last == seq:
                self._push(frame)
            return
        if frame["type"] == "snapshot":
            self._take_snapshot(frame, key, last)
            return
        if last is None:
            # A market that was listed after the snapshots of all markets.
            is_next = self._is_of_all_markets
        else:
            is_next = seq > last and self._follows(key, last, int_of(frame, "prev"))
        if is_next and self._push(frame):
            self._set_place(key, frame)

    def _is_live(self, key: str) -> bool:
        return self._is_all_live or key in self._live

    @property
    def _is_of_all_markets(self) -> bool:
        return self.channel == "markets" and not self.keys

    def _set_place(self, key: str, frame: Json) -> None:
        self.seqs[key] = int_of(frame, "seq")
        self._partitions[key] = position_of(frame).partition

    def _take_snapshot(self, frame: Json, key: str, last: int | None) -> None:
        if self._is_gap(frame, key, last):
            return
        if last is not None and frame.get("gap") is not True:
            if int_of(frame, "seq") <= last:
                return
            # Requested without a place: it stands for messages that did not come.
            frame = {**frame, "gap": True}
        if key in self._gaps_due:
            frame = {**frame, "gap": True}
        if not self._push(frame):
            return
        if frame.get("more") is not True:
            self._gaps_due.discard(key)
        if frame.get("more") is True:
            # Without its other parts it is worth nothing.
            self.seqs.pop(key, None)
        else:
            self._set_place(key, frame)

    def _is_gap(self, snapshot: Json, key: str, last: int | None) -> bool:
        """A snapshot instead of the messages after `last`."""
        if snapshot.get("gap") is not True or last is None or self._marks_gaps:
            return False
        reason = "the service does not keep them any more"
        self.fail(StreamGapError(self.channel, key, last, reason))
        return True

    def _follows(self, key: str, last: int, prev: int) -> bool:
        """A message that stands for several may begin before `last`: it has new totals."""
        if prev <= last:
            self._resumes.pop(key, None)
            return True
        at, count = self._resumes.get(key, (last, 0))
        count = count + 1 if at == last else 1
        self._resumes[key] = (last, count)
        if count <= _resumes_max:
            raise OutOfOrderError(f"{self.channel} {key}: {prev} follows {last}")
        if self._marks_gaps:
            return True
        self.fail(StreamGapError(self.channel, key, last, "the service skips them"))
        return False

    def _push(self, frame: Json) -> bool:
        """False when the iterator is too far behind: the subscription pauses until it has caught up."""
        if len(self._frames) >= queue_max_frames:
            if self.carrier is not None:
                self.carrier.detach(self)
            return False
        self._frames.append(frame)
        self._arrived.set()
        return True

    def newest(self) -> Mapping[str, int]:
        """The last `seq` of each subscribed key, as heartbeats name them: all markets of a partition are one."""
        if not self._is_of_all_markets:
            return {key: seq for key, seq in self.seqs.items() if self._is_live(key)}
        if not self._is_all_live:
            return {}
        sums: dict[str, int] = {}
        for key, seq in self.seqs.items():
            name = all_markets_key(self._partitions[key])
            sums[name] = sums.get(name, 0) + seq
        return sums

    @property
    def names(self) -> list[tuple[Channel, str | None]]:
        """What is watched for freshness: each key; all markets are one, and all of `own`."""
        keys: Sequence[str | None] = self.keys or (None,)
        return [(self.channel, key) for key in keys]

    def has_begun(self, key: str | None) -> bool:
        """Whether a message has come, or what an earlier process had is known."""
        return bool(self.seqs) if key is None else key in self.seqs

    def partitions(self, key: str | None) -> frozenset[int]:
        """Partitions of the matcher that messages came from; those of comments are of another topic."""
        if self.channel == "comments":
            return frozenset()
        known = self.seqs if key is None else (key,)
        found = (self._partition_of(one) for one in known)
        return frozenset(one for one in found if one is not None)

    def fail(self, error: Exception) -> None:
        """Ends the subscription once its frames are read."""
        if self._error is None:
            self._error = error
            self._arrived.set()

    # Towards the iterator

    async def next(self) -> Json:
        """The next frame; raises the error that ended the subscription."""
        while not self._frames:
            if self._error is not None:
                raise self._error
            if not self.is_attached and self.carrier is not None:
                self.carrier.attach(self)
            self._arrived.clear()
            await self._arrived.wait()
        return self._frames.popleft()

    def forget(self, key: str) -> None:
        """Drops what is known of a key and gets a snapshot of it; the other keys go on."""
        self.seqs.pop(key, None)
        self._frames = deque(frame for frame in self._frames if key_of(frame) != key)
        if self.carrier is not None and self.is_attached:
            self.carrier.detach(self)
            self.carrier.attach(self)
